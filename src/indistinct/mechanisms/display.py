"""How mechanisms show themselves in a notebook."""

from __future__ import annotations

import html
from collections.abc import Mapping

__all__ = ["card"]


def card(mechanism: object, facts: Mapping[str, object]) -> str:
    """A mechanism with its parameters, and what is to be known of it, as a small table.

    >>> card("Laplace", {"scale": 10})
    '<div><p><code>&#x27;Laplace&#x27;</code></p><table><tbody><tr><th>scale</th><td>10</td></tr></tbody></table></div>'
    """
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(fact))}</td></tr>" for name, fact in facts.items()
    )
    return f"<div><p><code>{html.escape(repr(mechanism))}</code></p><table><tbody>{rows}</tbody></table></div>"
