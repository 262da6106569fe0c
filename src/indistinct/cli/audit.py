"""indistinct audit: does a mechanism keep what it claims? By its exact law where that is known, and by test."""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import math
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from indistinct.audit import ExactAudit, TestedAudit

__all__ = ["run"]

_LITERAL = re.compile(
    r"""\s*([-+.(\[{'"0-9]|[bBrRuUfF]{1,2}['"]|(None|True|False|nan|inf|infinity)\s*$)""", re.IGNORECASE
)


def run(arguments: argparse.Namespace) -> int:
    """Prints a sentence for each audit, or one JSON object; 1 if the claim is violated."""
    from indistinct.audit import by_test
    from indistinct.audit.subjects import subject
    from indistinct.composition import ApproximateDP, PureDP

    claim = [(arguments.epsilon, arguments.delta)]
    options: dict[str, Any] = {"samples": arguments.samples, "false_alarm": arguments.false_alarm}
    exactly, inputs = None, None
    if ":" in arguments.mechanism:
        inputs = _given(arguments, "first"), _given(arguments, "second")
        tested = by_test(_imported(arguments.mechanism), *inputs, claim, **options, batch=arguments.batch)
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
        read = {} if inputs is None else {"inputs": [repr(given) for given in inputs]}
        print(json.dumps({**_as_object(tested, exactly), **read}, indent=2))
    else:
        print(*(each for each in (exactly, tested) if each is not None), sep="\n")
        if inputs is not None and any(isinstance(given, str) for given in inputs):
            print(f"The inputs were read as {inputs[0]!r} and {inputs[1]!r}.")
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
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module that ends the program is none to import
        raise InvalidParameter(
            "the mechanism", path, "be importable as module:function", instead=f"{type(error).__name__}: {error}."
        ) from error
    if not callable(found):
        raise InvalidParameter("the mechanism", path, "be a function of an input")
    return found


def _given(arguments: argparse.Namespace, name: str) -> object:
    """An input as Python would write it, or else as text, unless it begins as no text would."""
    if name not in arguments:
        raise InvalidParameter(f"--{name}", "missing", "be given for a function of yours", instead="Try --first 0.")
    text: str = getattr(arguments, name)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if _LITERAL.match(text) is None:
            return text
    raise InvalidParameter(
        f"--{name}",
        text,
        "be a value as Python writes it, as it begins like one",
        instead="Write text in quotation marks of its own: \"'1st'\".",
    )


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
