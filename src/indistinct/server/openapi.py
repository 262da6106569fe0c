"""The OpenAPI document of the service; tests send what it allows, and compare every answer with it."""

from __future__ import annotations

from typing import Any

from indistinct import __version__
from indistinct.server.refusals import CODES
from indistinct.server.work import Limits

__all__ = ["document"]

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_AMOUNT = {"type": "string", "maxLength": 60, "description": "An exact number as text: 0.1, 1e-6 or 1/3."}
_AMOUNTS = {"type": "object", "additionalProperties": _TEXT}


def document(limits: Limits) -> dict[str, Any]:
    """The document, with these limits in it."""
    ask = _object(
        {
            "sql": {"type": "string", "minLength": 1, "maxLength": 20_000},
            "epsilon": _AMOUNT,
            "rho": _AMOUNT,
            "delta": _AMOUNT,
            "groups": {"type": "integer", "minimum": 1, "maximum": 10**9},
            "rows": {"type": "integer", "minimum": 1, "maximum": 10**9},
            "keys": {"type": "object", "additionalProperties": {"type": "array"}},
        },
        required=["sql"],
        closed=True,
    )
    batch = _object(
        {
            "questions": {"type": "array", "items": _ref("Ask"), "minItems": 1, "maxItems": limits.batch},
            "most": {"type": "object", "additionalProperties": _AMOUNT},
        },
        required=["questions"],
        closed=True,
    )
    receipt = _object(
        {
            "key": _TEXT,
            "cost": _AMOUNTS,
            "free": {"type": "boolean"},
            "mechanisms": _TEXTS,
            "bounds": _TEXT,
            "remaining": _AMOUNTS,
            "ledger": _TEXT,
        }
    )
    intervals = _object({"level": _TEXT, "of": _TEXT, "columns": {"type": "object"}})
    answer = _object(
        {
            "columns": _TEXTS,
            "rows": {"type": "array", "items": {"type": "array"}},
            "noise_intervals": intervals,
            "receipt": receipt,
        }
    )
    explanation = _object(
        {
            "statement": _TEXT,
            "mechanisms": _TEXTS,
            "bounds": _TEXT,
            "cost": _AMOUNTS,
            "errors": {"type": "object"},
            "suppression": _TEXT,
            "remaining": _AMOUNTS,
            "remaining_after": _AMOUNTS,
            "times": {"type": "integer", "description": "How often it fits into what is left."},
        }
    )
    budget = _object(
        {
            "budget": _TEXT,
            "analyst": {"type": ["string", "null"]},
            "part": {"type": ["string", "null"]},
            "currency": _TEXT,
            "cap": _TEXT,
            "spent": _TEXT,
            "left": _TEXT,
        }
    )
    most = {
        "name": "most",
        "in": "query",
        "required": False,
        "schema": {"type": "integer", "minimum": 1, "maximum": 1000},
    }
    before = {
        "name": "before",
        "in": "query",
        "required": False,
        "schema": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
        "description": "Where the page before ended.",
    }
    nothing_or_text = {"type": ["string", "null"]}
    number = {"type": "integer", "description": "Of the row in the ledger."}
    charge = {"number": number, "key": _TEXT, "analyst": nothing_or_text, "cost": {}, "time": _TEXT, "state": _TEXT}
    move = {
        "number": number,
        "time": _TEXT,
        "budget": _TEXT,
        "part": nothing_or_text,
        "currency": _TEXT,
        "cap": _TEXT,
        "spent": _TEXT,
    }
    history = _object(
        {
            "charges": _list(_object(charge)),
            "moves": _list(_object(move)),
            "refused": _list(_object({"time": _TEXT, "code": {"type": "string", "enum": sorted(CODES)}})),
            "before": {"type": ["integer", "null"], "description": "Where the next page begins, if there is one."},
        }
    )
    key = {"name": "key", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    list_of = {"type": "array", "items": {"type": "object"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Indistinct",
            "version": __version__,
            "description": "One private database. Whatever is refused has a status, a code and a sentence.",
        },
        "security": [{"token": []}],
        "paths": {
            "/v1/ask": {"post": _operation("ask", "Asks a question, and charges for it.", answer, body="Ask")},
            "/v1/explain": {
                "post": _operation("explain", "What asking would do; nothing is charged.", explanation, body="Ask")
            },
            "/v1/batch": {
                "post": _operation(
                    "batch",
                    "Asks several questions, if all of them are allowed and fit together.",
                    _object({"price": _AMOUNTS, "answers": {"type": "array", "items": answer}, "remaining": _AMOUNTS}),
                    body="Batch",
                )
            },
            "/v1/balance": {
                "get": _operation(
                    "balance",
                    "What each budget has and has spent.",
                    _object({"dataset": _TEXT, "remaining": _AMOUNTS, "budgets": {"type": "array", "items": budget}}),
                )
            },
            "/v1/history": {
                "get": _operation(
                    "history", "The latest charges, and what was refused.", history, parameters=[most, before]
                )
            },
            "/v1/receipts/{key}": {
                "get": _operation("receipt", "The receipt of an answer.", {"type": "object"}, parameters=[key])
            },
            "/v1/verify": {
                "post": _operation(
                    "verify",
                    "Reads and checks the whole ledger.",
                    _object(
                        {
                            "whole": {"type": "boolean"},
                            "rows": {"type": "integer"},
                            "charges": {"type": "integer"},
                            "sentence": _TEXT,
                        }
                    ),
                )
            },
            "/v1/metrics": {
                "get": _operation("metrics", "How often each address gave each status.", _object({"answered": list_of}))
            },
            "/health": {
                "get": _operation("health", "Whether it runs.", _object({"healthy": {"type": "boolean"}}), open_=True)
            },
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Ask": ask,
                "Batch": batch,
                "Refusal": _object(
                    {
                        "status": {"type": "integer"},
                        "code": {"type": "string", "enum": sorted(CODES)},
                        "sentence": _TEXT,
                    },
                    closed=True,
                ),
            },
        },
    }


def _object(properties: dict[str, Any], *, required: list[str] | None = None, closed: bool = False) -> dict[str, Any]:
    told = {"type": "object", "properties": properties, "required": list(properties) if required is None else required}
    return {**told, "additionalProperties": False} if closed else told


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _operation(
    name: str,
    summary: str,
    answer: dict[str, Any],
    *,
    body: str = "",
    parameters: list[dict[str, Any]] | None = None,
    open_: bool = False,
) -> dict[str, Any]:
    refusal = {"description": "A refusal.", "content": {"application/json": {"schema": _ref("Refusal")}}}
    told: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "responses": {
            "200": {"description": summary, "content": {"application/json": {"schema": answer}}},
            **({} if open_ else {str(status): refusal for status in sorted(set(CODES.values()) - {404, 405})}),
        },
    }
    if body:
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": _ref(body)}}}
    if parameters:
        told["parameters"] = parameters
    if open_:
        told["security"] = []
    return told
