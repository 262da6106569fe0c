"""The questions of the tour, and the policy under which they are answered."""

from __future__ import annotations

from dataclasses import dataclass

from indistinct.cli.demo.visits import AGE_GROUPS, REGIONS, WARDS

__all__ = ["BUDGET", "QUESTIONS", "REFUSED", "Question", "policy_text"]

BUDGET = ("1", "1e-6")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, in words and in SQL that plain DuckDB understands as well: the keys of groups, then one number."""

    words: str
    sql: str
    groups: int | None = None
    """In how many groups one patient counts, where fewer are enough than the policy allows."""
    most: int = 12
    """How many rows are printed."""
    remark: str = ""


QUESTIONS = (
    Question(
        "How many patients does each region have?",
        "SELECT region, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY region ORDER BY region",
        groups=1,
        remark="A patient lives in one region, so nobody changes more than one number, and that by one.",
    ),
    Question(
        "How many minutes does one wait, ward by ward?",
        "SELECT ward, AVG(waiting_minutes) AS minutes FROM visits GROUP BY ward ORDER BY ward",
        remark="The policy lets an answer use four wards of a patient and five visits to each.",
    ),
    Question(
        "What does a visit cost, by age?",
        "SELECT age_group, AVG(CLAMP(cost, 0, 3000)) AS cost FROM visits GROUP BY age_group ORDER BY age_group",
        groups=1,
        remark="The true column clamps as well: an average without bounds would show the largest bill.",
    ),
    Question(
        "How many minutes do half of the people wait in the emergency ward?",
        "SELECT MEDIAN(waiting_minutes) AS minutes FROM visits WHERE ward = 'emergency'",
        remark="A median has no noise interval: it is a value near the middle, by rank.",
    ),
    Question(
        "What brings people to the emergency ward? Nobody has listed the reasons.",
        "SELECT reason, COUNT(DISTINCT patient_id) AS patients FROM visits WHERE ward = 'emergency' GROUP BY reason "
        "ORDER BY patients DESC",
        remark="A reason that few people have is not shown, nor how few they are. (Here it is: nobody exists.)",
    ),
)

REFUSED = "SELECT visited, reason, cost FROM visits WHERE patient_id = 100004"


def policy_text(source: str) -> str:
    """The policy file of the demo: what a hospital network could say in public without a look at its rows."""

    def listed(keys: tuple[str, ...]) -> str:
        return "[" + ", ".join(f'"{key}"' for key in keys) + "]"

    return f"""# The policy of the demo. Every key is explained in docs/policy.md.
version = 1

[budget] # of all answers together, for ever
epsilon = {BUDGET[0]}
delta = {BUDGET[1]}
rule = "zcdp" # in the currency rho, with prices for quantiles and private groups

[tables.visits]
source = "{source}"
unit = "patient_id"

[tables.visits.contribution] # an answer uses, of one patient, at most
groups = 4 # ... four groups
rows = 5 # ... and five visits in each

[tables.visits.columns]
patient_id = {{ type = "integer" }}
region = {{ type = "text", keys = {listed(REGIONS)} }}
ward = {{ type = "text", keys = {listed(WARDS)} }}
age_group = {{ type = "text", keys = {listed(AGE_GROUPS)} }}
reason = {{ type = "text" }}
waiting_minutes = {{ type = "integer", low = 0, high = 240 }}
cost = {{ type = "real", low = 0, high = 5000, step = 0.01 }}
visited = {{ type = "date" }}
"""
