"""The explorer as one HTML file that needs no server: the page, and a grid of numbers computed beforehand.

Each composition is composed once, and all its numbers are read off that one profile. What takes longest are the tails
of about ten uses; so of mechanisms on a sample, which are used hundreds of times, the file holds one use and many.

The modules of the page become functions of one script, whose hash is the only one that the file's policy allows;
it may connect to nothing. What the file shows is what the library answered when the file was written.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import product

from indistinct.server.compositions import KINDS, Kind
from indistinct.server.explorer import curve, numbers
from indistinct.server.pages import page_files

__all__ = ["Grid", "exported"]

_ORDER = ("svg", "belief", "controls", "curve", "region", "source", "state", "main")
_IMPORT = re.compile(r'^import \{ (?P<names>[^}]*) \} from "\./(?P<module>\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?P<rest>(?:async )?(?:function|const) (?P<name>\w+))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Grid:
    """Which compositions a file holds: one kind of mechanism each, at these values, counts, deltas and priors."""

    values: dict[str, dict[str, tuple[str, ...]]] = field(
        default_factory=lambda: {
            "geometric": {"epsilon": ("0.01", "0.03", "0.1", "0.3", "1")},
            "laplace": {"scale": ("1", "3", "10", "30")},
            "gaussian": {"sigma": ("1", "3", "10", "30")},
            "sampled": {"sigma": ("1", "3"), "rate": ("0.001", "0.01", "0.1")},
            "response": {"epsilon": ("0.1", "0.3", "1")},
            "guarantee": {"epsilon": ("0.01", "0.1", "1"), "delta": ("0", "1e-9")},
        }
    )
    counts: tuple[int, ...] = (1, 10, 100, 1000)
    others: dict[str, tuple[int, ...]] = field(default_factory=lambda: {"sampled": (1, 100, 1000, 10_000)})
    """The counts of kinds that have others."""
    deltas: tuple[str, ...] = ("1e-6", "1e-3")
    priors: tuple[str, ...] = ("1/10", "1/2")

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds on offer, with these values as their steps."""
        return tuple(self._narrowed(kind) for kind in KINDS if kind.name in self.values)

    def counts_of(self, name: str) -> tuple[int, ...]:
        """How often a kind is used."""
        return self.others.get(name, self.counts)

    def _narrowed(self, kind: Kind) -> Kind:
        chosen = self.values[kind.name]
        return replace(
            kind,
            parameters=tuple(
                replace(each, steps=chosen[each.name], first=chosen[each.name][len(chosen[each.name]) // 2])
                for each in kind.parameters
            ),
        )

    def answers(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Every composition's answers by its name, as the page spells it."""
        for kind in self.kinds:
            for values in product(*(parameter.steps for parameter in kind.parameters)):
                named = dict(zip((parameter.name for parameter in kind.parameters), values, strict=True))
                for times in self.counts_of(kind.name):
                    parts = [{"kind": kind.name, **named, "times": times}]
                    found = {
                        f"{delta}@{prior}": numbers({"parts": parts, "delta": delta, "prior": prior})
                        for delta, prior in product(self.deltas, self.priors)
                    }
                    yield (
                        ";".join([kind.name, *values, str(times)]),
                        {
                            "numbers": found,
                            "curve": curve({"parts": parts}),
                        },
                    )


def exported(grid: Grid | None = None) -> str:
    """The text of the file; the whole grid takes some minutes."""
    chosen = grid or Grid()
    held = {
        "kinds": [asdict(kind) for kind in chosen.kinds],
        "counts": {kind.name: chosen.counts_of(kind.name) for kind in chosen.kinds},
        "deltas": chosen.deltas,
        "priors": chosen.priors,
        "answers": dict(chosen.answers()),
    }
    script = "\n".join(_as_function(name) for name in _ORDER)
    style = _text("style.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    data = json.dumps(held, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    page = _text("index.html")
    held_there = f'<script type="application/json" id="grid">{data}</script>'
    script_there = f'<script type="module">{script}</script>'
    for old, new in (
        (
            '<meta charset="utf-8">',
            f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        ),
        ('<link rel="stylesheet" href="style.css">', f"<style>{style}</style>"),
        ('<script type="module" src="main.js"></script>\n', ""),
        ("</body>", f"{held_there}\n{script_there}\n</body>"),
    ):
        page = page.replace(old, new)
    return page


def _as_function(name: str) -> str:
    """A module as a function that returns what it exports."""
    source = _IMPORT.sub(
        lambda found: f"const {{ {_renamed(found['names'])} }} = {found['module']}Module;", _text(f"{name}.js")
    )
    names = [found["name"] for found in _EXPORT.finditer(source)]
    body = _EXPORT.sub(lambda found: found["rest"], source)
    return f"const {name}Module = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();"


def _renamed(names: str) -> str:
    return ", ".join(name.replace(" as ", ": ") for name in names.split(", "))


def _text(name: str) -> str:
    return page_files()[name].content.decode()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
