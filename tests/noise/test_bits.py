"""Where bits come from: never twice, in no other process, in no other thread, in no copy."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from indistinct.noise import SYSTEM, DiscreteLaplace, LazyNoise, NoiseStream, UniformBelow
from indistinct.noise.ahead import Ahead
from indistinct.noise.bits import SystemBits, process_era
from tests.noise.sources import RepeatableBits

SAMPLER = UniformBelow(2**62)

# Children fork from a parent whose stocks are full, and tell what they draw: scalars, small arrays, words, real noise.
FORKING = """
import os, sys
from indistinct.noise import SYSTEM, NoiseStream, UniformBelow

sampler, stream = UniformBelow(2**62), NoiseStream.laplace()

def some():
    return [
        *(sampler.draw() for _ in range(50)),
        *sampler.draws(50).tolist(),
        *(stream.next().word for _ in range(50)),
        *SYSTEM.words(50).tolist(),
    ]

some()
readers = []
for _ in range(2):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, " ".join(map(str, some())).encode())
        os._exit(0)
    os.close(writer)
    readers.append(reader)
for reader in readers:
    text = b""
    while part := os.read(reader, 65536):
        text += part
    print(text.decode())
print(*some())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_parent_and_children_share_no_bits() -> None:
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    run = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True, env=environment)
    seen = [line.split() for line in run.stdout.splitlines()]
    assert [len(words) for words in seen] == [200, 200, 200]
    assert len({word for words in seen for word in words}) == 600


def test_a_fork_that_was_not_announced_is_noticed_by_the_process_number(monkeypatch: pytest.MonkeyPatch) -> None:
    stock: Ahead[int] = Ahead()
    values = iter(range(10**9))

    def fill() -> list[int]:
        return [next(values) for _ in range(1000)]

    first = stock.take(fill)
    bits = SystemBits()
    before = bits.words(4)
    monkeypatch.setattr(os, "getpid", lambda: -5)
    assert process_era()[1] == -5
    second = stock.take(fill)
    assert (first, second) == (999, 1999)  # nothing more of the first stock
    assert not set(bits.words(200).tolist()) & set(before.tolist())


def test_threads_never_share_a_draw() -> None:
    found: list[list[int]] = []
    stream = NoiseStream.gumbel()

    def work() -> None:
        mine = [SAMPLER.draw() for _ in range(4000)]
        mine += [stream.next().word for _ in range(2000)]
        mine += SYSTEM.words(100).tolist() + SAMPLER.draws(100).tolist()
        found.append(mine)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(mine) for mine in found] == [6200] * 6
    assert len({value for mine in found for value in mine}) == 6 * 6200


def test_copies_and_pickles_carry_no_noise() -> None:
    for _ in range(3):
        SAMPLER.draw()
    twins = [SAMPLER, copy.deepcopy(SAMPLER), pickle.loads(pickle.dumps(SAMPLER))]  # noqa: S301  # our own
    assert len({twin.draw() for twin in twins for _ in range(20)}) == 60
    assert twins[0] == twins[2]
    stream = NoiseStream.laplace(2)
    stream.next()
    streams = [stream, copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))]  # noqa: S301  # our own
    assert len({twin.next().word for twin in streams for _ in range(20)}) == 60
    assert pickle.loads(pickle.dumps(SYSTEM)) is SYSTEM  # noqa: S301  # our own
    assert copy.deepcopy(SYSTEM) is SYSTEM


def test_a_comparison_noise_refuses_to_be_copied() -> None:
    for secret in (LazyNoise.laplace(2), NoiseStream.laplace().next()):
        with pytest.raises(TypeError, match="noise is used once"):
            copy.copy(secret)
        with pytest.raises(TypeError, match="noise is used once"):
            pickle.dumps(secret)


def test_words_are_fresh_whatever_is_asked() -> None:
    source = SystemBits()
    parts = [source.words(count) for count in (0, 1, 5, 200, 0, 255, 256, 257, 1000, 3000, 1)]
    assert [len(part) for part in parts] == [0, 1, 5, 200, 0, 255, 256, 257, 1000, 3000, 1]
    words = np.concatenate(parts)
    assert len(set(words.tolist())) == len(words)


def test_only_an_explicit_source_repeats() -> None:
    law = DiscreteLaplace(10**6)
    assert np.array_equal(law.draws(100, RepeatableBits(1)), law.draws(100, RepeatableBits(1)))
    assert law.draw(RepeatableBits(1)) == law.draws(1, RepeatableBits(1))[0]
    assert not np.array_equal(law.draws(100, RepeatableBits(1)), law.draws(100, RepeatableBits(2)))
    np.random.seed(0)  # noqa: NPY002  # what others seed has no effect
    first = law.draws(100)
    np.random.seed(0)  # noqa: NPY002
    assert not np.array_equal(first, law.draws(100))
