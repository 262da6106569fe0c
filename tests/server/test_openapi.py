"""The OpenAPI document is true: whatever it allows is answered as it says, and whatever it does not is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from indistinct.server.openapi import document
from indistinct.server.refusals import CODES
from indistinct.server.work import Limits
from tests.server.serving import COUNT, Served, database, serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
OPERATIONS = {
    (path, method): operation
    for path, methods in document(Limits())["paths"].items()
    for method, operation in methods.items()
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    with database(folder) as opened, serving(opened, folder) as there:
        yield there


@pytest.mark.parametrize("path", sorted({path for path, _ in OPERATIONS}))
def test_answers_are_what_the_document_says(served: Served, path: str) -> None:
    schema = schemathesis.openapi.from_dict(served.send("GET", "/openapi.json", token=None)[1])
    schema.config.update(base_url=served.url)
    method = next(method for each, method in OPERATIONS if each == path)
    asked = 0

    @given(case=schema[path][method.upper()].as_strategy())
    @settings(
        max_examples=12, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    def run(case: Any) -> None:
        nonlocal asked
        asked += 1
        response = case.call(headers={"Authorization": f"Bearer {served.owner}"})
        case.validate_response(response, checks=CHECKS)

    run()
    assert asked


def test_a_document_that_is_untrue_is_found_out(served: Served) -> None:
    told = document(Limits())
    told["paths"]["/v1/balance"]["get"]["responses"]["200"]["content"]["application/json"]["schema"] = {
        "type": "object",
        "required": ["secret"],
    }
    schema = schemathesis.openapi.from_dict(told)
    schema.config.update(base_url=served.url)
    case = schema["/v1/balance"]["GET"].Case()
    response = case.call(headers={"Authorization": f"Bearer {served.owner}"})
    with pytest.raises(BaseExceptionGroup):
        case.validate_response(response, checks=CHECKS)


def test_what_is_asked_every_day_is_what_the_document_says(served: Served) -> None:
    schema = schemathesis.openapi.from_dict(document(Limits()))
    schema.config.update(base_url=served.url)
    ask = {"sql": COUNT, "rho": "0.0001"}
    asked: list[tuple[str, Any]] = [("/v1/ask", ask), ("/v1/explain", ask), ("/v1/batch", {"questions": [ask]})]
    for path, body in asked:
        case = schema[path]["POST"].Case(body=body, media_type="application/json")
        response = case.call(headers={"Authorization": f"Bearer {served.ada}"})
        assert response.status_code == 200
        case.validate_response(response, checks=CHECKS)


def test_every_address_and_code_is_in_the_document(served: Served) -> None:
    told = document(Limits())
    assert told["components"]["schemas"]["Refusal"]["properties"]["code"]["enum"] == sorted(CODES)
    for path, method in OPERATIONS:
        status, _ = served.send(method.upper(), path.replace("{key}", "x"), {}, token=served.owner)
        assert status not in {404, 405, 500}
