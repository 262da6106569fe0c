"""The table of the demo: visits to a hospital network, all of them invented.

Every number comes from one seeded generator, so the same table is made everywhere. This is make-believe data, not
noise: noise is drawn from the operating system's generator alone (`indistinct.noise`).

What makes it look like life: a few patients come again and again while most come rarely; regions differ in size
by a factor of twelve; what people come for depends on their age; most reasons are common and some are so rare that a
person could be recognised by them; waiting times and costs have long tails; the emergency ward is busy at weekends and
in winter; and some people leave before they are seen, so that their waiting time is missing.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indistinct.errors import InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Columns = dict[str, NDArray[Any]]

__all__ = ["AGE_GROUPS", "PATIENTS", "REASONS", "REGIONS", "VISITS", "WARDS", "make_visits", "write_visits"]

PATIENTS = 20_000
VISITS = 200_000
_SEED = 2015
_FIRST_DAY = dt.date(2025, 1, 1)
_DAYS = 365

REGIONS = (
    "Ashford",
    "Brackwater",
    "Carrow",
    "Denholm",
    "Elmstead",
    "Farleigh",
    "Garth",
    "Hexton",
    "Inverlee",
    "Kelsham",
    "Lindale",
    "Marlow",
)

AGE_GROUPS = ("0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-79", "80+")
_AGE_SHARES = (9, 8, 10, 12, 12, 13, 14, 13, 9)

# Shares by age group, in the order above; then the usual minutes of waiting and the usual cost of a visit.
_WARDS: dict[str, tuple[tuple[int, ...], int, int]] = {
    "emergency": ((30, 35, 30, 26, 24, 22, 22, 26, 34), 95, 310),
    "medicine": ((4, 8, 14, 18, 24, 28, 30, 32, 34), 40, 260),
    "surgery": ((4, 10, 12, 14, 16, 18, 18, 15, 10), 55, 1900),
    "paediatrics": ((60, 30, 0, 0, 0, 0, 0, 0, 0), 35, 180),
    "maternity": ((0, 2, 22, 24, 6, 0, 0, 0, 0), 20, 1400),
    "cardiology": ((1, 1, 2, 4, 10, 16, 18, 17, 15), 45, 620),
    "oncology": ((1, 1, 2, 4, 10, 12, 10, 8, 5), 30, 2400),
    "psychiatry": ((0, 13, 18, 10, 10, 4, 2, 2, 2), 50, 240),
}
WARDS = tuple(_WARDS)

# The commonest first: the next is two thirds as common, the last are what a person is recognised by.
_REASONS = {
    "emergency": "chest pain|fall|cut|breathlessness|burn|poisoning|electric shock|snake bite|lightning strike",
    "medicine": "check-up|high blood pressure|diabetes|back pain|infection|anaemia|gout|malaria|leprosy",
    "surgery": "fracture|appendix|gallstones|hernia|knee replacement|hip replacement|transplant|separation of twins",
    "paediatrics": "fever|cough|vaccination|rash|earache|measles|rickets",
    "maternity": "check-up in pregnancy|birth|ultrasound|twins|triplets|quadruplets",
    "cardiology": "irregular heartbeat|high blood pressure|heart failure|pacemaker|heart attack|heart transplant",
    "oncology": "chemotherapy|radiotherapy|biopsy|second opinion|trial of a medicine",
    "psychiatry": "depression|anxiety|addiction|sleeplessness|psychosis|amnesia",
}
REASONS = tuple(sorted({reason for reasons in _REASONS.values() for reason in reasons.split("|")}))
_RARER = 2 / 3


def make_visits(visits: int = VISITS, patients: int = PATIENTS) -> Columns:
    """The columns of the table, texts as positions in the tuples above; every patient comes at least once.

    >>> columns = make_visits(1000, 100)
    >>> len(columns["patient_id"]), len(set(columns["patient_id"].tolist()))
    (1000, 100)
    """
    if not 1 <= patients <= visits <= 10**8:
        raise InvalidParameter("visits", visits, f"be at least the number of patients, {patients:,}, and at most 10^8")
    draw = np.random.Generator(np.random.PCG64(_SEED))
    living = draw.choice(len(REGIONS), patients, p=_shares(1 / np.arange(1.0, len(REGIONS) + 1) ** 0.9))
    ages = draw.choice(len(AGE_GROUPS), patients, p=_shares(np.array(_AGE_SHARES, float)))
    again = draw.multinomial(visits - patients, _shares(draw.gamma(0.35, size=patients) + 1e-3))
    patient = np.repeat(np.arange(patients), 1 + again)
    age = ages[patient]

    wards = np.array([_WARDS[each][0] for each in WARDS], float).T
    ward = _each(draw, wards, age)
    reasons = np.zeros((len(WARDS), len(REASONS)))
    for row, kind in enumerate(WARDS):
        for place, cause in enumerate(_REASONS[kind].split("|")):
            reasons[row, REASONS.index(cause)] = _RARER**place if place < 4 else _RARER**4 / 4 ** (place - 3)
    reason = _each(draw, reasons, ward)

    region = living[patient]
    usual = np.array([_WARDS[each][1] for each in WARDS])[ward] * (0.75 + 0.06 * region)
    waited = np.rint(usual * draw.lognormal(-0.15, 0.55, visits)).clip(0, 900)
    left = draw.random(visits) < np.where(ward == WARDS.index("emergency"), 0.05, 0.01)
    cost = np.array([_WARDS[each][2] for each in WARDS])[ward] * draw.lognormal(-0.3, 0.8, visits)
    columns = {
        "patient_id": 100_000 + patient,
        "region": region,
        "ward": ward,
        "age_group": age,
        "reason": reason,
        "waiting_minutes": np.where(left, -1, waited).astype(np.int32),
        "cost_cents": np.rint(100 * cost).astype(np.int64),
        "day": _days(draw, ward),
    }
    order = np.lexsort((patient, columns["day"]))
    return {name: values[order] for name, values in columns.items()}


def write_visits(path: Path, visits: int = VISITS, patients: int = PATIENTS) -> None:
    """Writes the table as Parquet, the same bytes' worth of rows each time."""
    import duckdb

    columns = make_visits(visits, patients)
    names = {"region": REGIONS, "ward": WARDS, "age_group": AGE_GROUPS, "reason": REASONS}
    values: dict[str, object] = {name: list(texts) for name, texts in names.items()}
    with duckdb.connect() as engine:
        engine.register("columns", columns)
        table = engine.sql(_AS_TABLE, params={**values, "first": _FIRST_DAY})
        try:
            table.write_parquet(str(path), compression="zstd")
        except duckdb.IOException as error:
            raise InvalidParameter("the file", str(path), "be one that can be written") from error


_AS_TABLE = """
    SELECT patient_id, $region[region + 1] AS region, $ward[ward + 1] AS ward, $age_group[age_group + 1] AS age_group,
           $reason[reason + 1] AS reason, CASE WHEN waiting_minutes >= 0 THEN waiting_minutes END AS waiting_minutes,
           (cost_cents / 100)::DOUBLE AS cost, $first::DATE + day::INTEGER AS visited
    FROM columns
"""


def _shares(weights: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(weights / weights.sum())


def _each(draw: np.random.Generator, weights: NDArray[Any], row: NDArray[Any]) -> NDArray[Any]:
    """One choice for each visit, by the weights of its row."""
    upto = np.cumsum(weights, axis=1)
    at = draw.random(len(row))
    chosen = np.empty(len(row), np.intp)
    for each, ends in enumerate(upto):
        mine = row == each
        chosen[mine] = np.searchsorted(ends, at[mine] * ends[-1], side="right")
    return chosen


def _days(draw: np.random.Generator, ward: NDArray[Any]) -> NDArray[Any]:
    """Days of the year: the emergency ward at any time and more in winter, the others on working days."""
    day = np.arange(_DAYS)
    working = np.array([(_FIRST_DAY + dt.timedelta(int(each))).weekday() < 5 for each in day])
    winter = 1 + 0.3 * np.cos(2 * np.pi * (day - 20) / _DAYS)
    weights = np.stack([winter * np.where(working, 1, 0.15), winter * np.where(working, 1, 1.3)])
    return _each(draw, weights, (ward == WARDS.index("emergency")).astype(np.intp))
