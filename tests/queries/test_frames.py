"""Frames and Arrow tables: of pandas, polars and pyarrow, on the way in and on the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import indistinct
from indistinct.errors import InvalidParameter
from indistinct.queries import PrivateDatabase

QUESTION = "SELECT g, COUNT(*) AS n, SUM(CLAMP(x, 0, 10)) AS s FROM people GROUP BY g"
KEYS = {"g": ["a", "b", "c", None]}


class Capsule:
    """Anything with an Arrow stream, and nothing else."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def rows() -> dict[str, list[Any]]:
    people = range(600)
    return {
        "u": [i // 2 for i in people],
        "g": [("a", "b", "c", None)[i // 2 % 4] for i in people],
        "x": [float("nan") if i % 50 == 0 else i % 13 for i in people],
    }


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(rows()),
    "polars": lambda: pl.DataFrame(rows(), strict=False),
    "polars, lazily": lambda: pl.DataFrame(rows(), strict=False).lazy(),
    "arrow": lambda: pa.table(rows()),
    "arrow stream": lambda: Capsule(pa.table(rows())),
    "polars stream": lambda: Capsule(pl.DataFrame(rows(), strict=False)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_is_read_as_the_same_table(kind: str) -> None:
    with indistinct.open(FRAMES[kind](), unit="u", epsilon=10**6, name="people", rows=2) as opened:
        assert dict(opened.engine.columns("people")) == {"u": "integer", "g": "text", "x": "real"}
        answer = opened.sql(QUESTION, keys=KEYS, epsilon=10**5)
    exact = {key: [0, 0.0] for key in KEYS["g"]}
    told = rows()
    for group, x in zip(told["g"], told["x"], strict=True):
        exact[group][0] += 1
        exact[group][1] += min(x, 10) if x == x else 0
    assert [(group, n) for group, n, _ in answer.rows] == [(group, n) for group, (n, _) in exact.items()]
    assert all(abs(s - exact[group][1]) < 0.1 for group, _, s in answer.rows)


@pytest.fixture
def people() -> Iterator[PrivateDatabase]:
    with indistinct.open(FRAMES["polars"](), unit="u", epsilon=1, delta=1e-6, name="people", rows=2) as opened:
        yield opened


def test_answers_become_frames_of_every_kind(people: PrivateDatabase) -> None:
    answer = people.sql(QUESTION, keys=KEYS)
    frames = [answer.to_polars(), pl.DataFrame(answer), pl.DataFrame(pa.table(answer))]
    for frame in frames:
        assert frame.columns == list(answer.columns)
        assert frame.rows() == list(answer.rows)
    assert answer.to_arrow().to_pydict() == pa.table(answer).to_pydict()
    assert next(answer.to_pandas().itertuples(index=False, name=None)) == answer.rows[0]
    with duckdb.connect() as connection:
        connection.register("answer", answer)
        assert connection.execute("SELECT * FROM answer").fetchall() == list(answer.rows)


def test_a_policy_is_read_from_its_path(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    pl.DataFrame(rows(), strict=False).write_parquet(tmp_path / "people.parquet")
    policy.write_text(
        """
        version = 1
        budget = {epsilon = 1, delta = 1e-6, rule = "gaussian"}
        [tables.people]
        source = "people.parquet"
        unit = "u"
        [tables.people.columns]
        u = {type = "integer"}
        g = {type = "text", keys = ["a", "b", "c"], null_key = true}
        x = {type = "real", low = 0, high = 10}
        """
    )
    for path in (policy, str(policy)):
        with indistinct.open(policy=path) as opened:
            assert set(opened.remaining) == {"mu^2", "delta"}
            answer = opened.sql("SELECT g, AVG(x) FROM people GROUP BY g")
            assert [row[0] for row in answer.rows] == KEYS["g"]
    with indistinct.open(FRAMES["polars"](), policy=policy) as framed:
        assert framed.sql("SELECT COUNT(*) FROM people").rows
    with pytest.raises(InvalidParameter, match="file that can be read"):
        indistinct.open(policy=tmp_path / "missing.toml")
    policy.write_text("version = 1\nbudget = {epsilon = 1, rule = 'best'}")
    with pytest.raises(InvalidParameter, match="one of basic, zcdp, gaussian"):
        indistinct.open(policy=policy)


def test_what_is_no_frame_is_refused() -> None:
    for source in (42, object(), [1, 2], pl.Series([1, 2])):
        with pytest.raises(InvalidParameter, match=r"source|unit"):
            indistinct.open(source, unit="u", epsilon=1, delta=1e-6)
