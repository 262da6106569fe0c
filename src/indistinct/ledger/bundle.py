"""Several charges in hand, which came with one commit and are answered with another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from indistinct.errors import AnswerFailed, InvalidParameter, LedgerError
from indistinct.ledger.charge import Charge, spelled_answer, tells
from indistinct.ledger.operations import Fail, Release, Together

if TYPE_CHECKING:
    from indistinct.ledger.group import Group

__all__ = ["Charges"]


class Charges(Mapping[str, Charge]):
    """Charges by their keys, durable before the data are touched; made by `Ledger.charge_many`.

    As with one `Charge`: inside the `with` block the answers are computed and sealed, all at once or one by one, and if
    the block fails, what has no answer by then stays charged, with the outcome AnswerFailed.
    """

    def __init__(self, group: Group, charges: Mapping[str, Charge]) -> None:
        self._group = group
        self._charges = dict(charges)

    def __getitem__(self, key: str) -> Charge:
        return self._charges[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._charges)

    def __len__(self) -> int:
        return len(self._charges)

    @property
    def unanswered(self) -> list[str]:
        """The keys of those that have no answer yet: these are to be computed."""
        return [key for key, charge in self._charges.items() if not charge.answered]

    def seal(self, answers: Mapping[str, object]) -> dict[str, Any]:
        """Stores answers by their keys, all in one commit or none, and returns those that may be sent.

        As with one charge, an answer that was sealed before stays.
        """
        spelled = {}
        for key, answer in answers.items():
            if key not in self._charges:
                raise InvalidParameter("a key", key, "be that of a charge at hand")
            spelled[key] = spelled_answer(answer)
        self._run([Release(key, *each) for key, each in spelled.items() if not self._charges[key].answered])
        return {key: self._charges[key].answer for key in spelled}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        missing = self.unanswered
        if error is None:
            if missing:
                raise LedgerError(f"{len(missing):,} charges were left without an answer: seal one for {missing[0]!r}.")
            return
        error.__context__ = error.__cause__ = None  # what went wrong in the block may tell of the data
        if not missing or not tells(error, traceback):
            return
        del error, traceback, kind
        try:
            self._run([Fail(key) for key in missing])
        except LedgerError as failure:
            failure.__context__ = None
            raise

    def _run(self, operations: Sequence[Release | Fail]) -> None:
        records = self._group.run(Together(tuple(operations))) if operations else []
        if not isinstance(records, list):
            raise TypeError(records)
        for operation, record in zip(operations, records, strict=True):
            self._charges[operation.key].settle(record)
        if any(charge.failed for charge in self._charges.values()):
            raise AnswerFailed
