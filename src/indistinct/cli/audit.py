"""indistinct audit: does a mechanism keep what it claims? By its exact law where that is known, and by test."""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from indistinct.audit import ExactAudit, TestedAudit

__all__ = ["run"]


def run(arguments: argparse.Namespace) -> int:
    """Prints a sentence for each audit, or one JSON object; 1 if the claim is violated."""
    from indistinct.audit import by_test
    from indistinct.audit.subjects import subject
    from indistinct.composition import ApproximateDP, PureDP

    claim = [(arguments.epsilon, arguments.delta)]
    options: dict[str, Any] = {"samples": arguments.samples, "false_alarm": arguments.false_alarm}
    exactly = None
    if ":" in arguments.mechanism:
        first, second = _given(arguments, "first"), _given(arguments, "second")
        tested = by_test(_imported(arguments.mechanism), first, second, claim, **options, batch=arguments.batch)
    else:
        for name in ("first", "second", "batch"):
            if getattr(arguments, name, False):
                raise InvalidParameter(f"--{name}", getattr(arguments, name), "be left out for a mechanism by name")
        named = subject(arguments.mechanism, arguments.epsilon)
        if named.exactly is not None:
            delta = ApproximateDP(arguments.epsilon, arguments.delta).delta
            exactly = named.exactly(PureDP(arguments.epsilon)) if not delta else None
        tested = by_test(named.answer, named.first, named.second, claim, **options, batch=True)
    if "plot" in arguments:
        tested.plot(arguments.plot)
    if arguments.json:
        print(json.dumps(_as_object(tested, exactly), indent=2))
    else:
        print(*(each for each in (exactly, tested) if each is not None), sep="\n")
    return 1 if tested.violates or (exactly is not None and exactly.violates) else 0


def _imported(path: str) -> Callable[..., Any]:
    """`module:function`, also from the directory in which the command is run."""
    module, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise InvalidParameter(
            "the mechanism", path, "be importable as module:function", instead=f"{type(error).__name__}: {error}."
        ) from error
    if not callable(found):
        raise InvalidParameter("the mechanism", path, "be a function of an input")
    return found


def _given(arguments: argparse.Namespace, name: str) -> object:
    """An input as Python would write it, or else as text."""
    if name not in arguments:
        raise InvalidParameter(f"--{name}", "missing", "be given for a function of yours", instead="Try --first 0.")
    text = getattr(arguments, name)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _as_object(tested: TestedAudit, exactly: ExactAudit | None) -> dict[str, object]:
    found: dict[str, object] = {
        "verdict": "violates" if exactly is not None and exactly.violates else tested.verdict,
        "claim": tested.claim,
        "test": {
            "verdict": tested.verdict,
            "epsilon at least": tested.epsilon,
            "delta": tested.delta,
            "visible epsilon": tested.visible if math.isfinite(tested.visible) else "infinity",
            "samples": tested.samples,
            "false alarm": str(tested.false_alarm),
            "events": [
                {
                    "event": event.name,
                    "speaks for": event.speaks_for,
                    "first": event.first,
                    "second": event.second,
                    "trials": event.trials,
                    "at least": event.likely,
                    "at most": event.unlikely,
                }
                for event in tested.events
            ],
        },
    }
    if exactly is not None:
        found["exact"] = {"verdict": exactly.verdict, "pairs": exactly.pairs, "doubt": float(exactly.doubt)}
    return found
