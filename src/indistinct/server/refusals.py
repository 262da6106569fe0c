"""The one shape of everything that is refused over HTTP: a status, a code, a sentence.

    400 bad_request         no JSON, or no HTTP
    401 no_token            no token, or one that is unknown or was revoked
    403 not_your_role       a role that may not do this
    404 not_found           nothing is at that address
    405 wrong_method        something else may be done there
    408 too_slow_sending    the request did not arrive in time
    409 budget_exceeded     it does not fit into what is left; nothing was charged
    409 key_reused          a key names another request
    413 too_large           the request is too long
    415 not_json            the request is not declared as JSON
    422 invalid             a field is not of the form it must have; nothing was charged
    422 question_refused    the question cannot be answered privately; nothing was charged
    429 too_fast            more requests than one person may send
    500 answer_failed       what was charged could not be answered; it stays charged
    500 ledger_untrusted    the ledger is not what was written; nothing is answered
    500 internal            our own bug; the sentence never says more
    503 busy                too much is waiting
    503 data_unavailable    the data cannot be read now; nothing was charged
    503 ledger_unavailable  the ledger cannot be read or written now
    504 too_slow            no answer in time; ask again, what was charged is not charged twice

Codes are for programs and never change their meaning; sentences are for people.
"""

from __future__ import annotations

from indistinct.errors import (
    AnswerFailed,
    BudgetExceeded,
    DataUnavailable,
    InvalidParameter,
    KeyReused,
    LedgerUnavailable,
    LedgerUntrusted,
)
from indistinct.queries.refusals import QueryRefused

__all__ = ["CODES", "Refusal", "refusal_of"]

CODES = {
    "bad_request": 400,
    "no_token": 401,
    "not_your_role": 403,
    "not_found": 404,
    "wrong_method": 405,
    "too_slow_sending": 408,
    "budget_exceeded": 409,
    "key_reused": 409,
    "too_large": 413,
    "not_json": 415,
    "invalid": 422,
    "question_refused": 422,
    "too_fast": 429,
    "answer_failed": 500,
    "ledger_untrusted": 500,
    "internal": 500,
    "busy": 503,
    "data_unavailable": 503,
    "ledger_unavailable": 503,
    "too_slow": 504,
}


class Refusal(Exception):  # a signal inside the server, which becomes an answer of its one shape
    """Ends a request.

    >>> Refusal("busy", "Too much is waiting.").body
    {'status': 503, 'code': 'busy', 'sentence': 'Too much is waiting.'}
    """

    def __init__(self, code: str, sentence: str, *, headers: dict[str, str] | None = None) -> None:
        self.code = code
        self.status = CODES[code]
        self.sentence = sentence
        self.headers = headers or {}
        super().__init__(sentence)

    @property
    def body(self) -> dict[str, object]:
        """What is sent."""
        return {"status": self.status, "code": self.code, "sentence": self.sentence}


def refusal_of(error: Exception) -> Refusal:
    """What is said of an error; of one that is not expected, only that there was one.

    >>> refusal_of(KeyError("the patient in bed 7")).sentence
    'Something went wrong in the server. What was charged stays charged, and is not charged twice.'
    """
    match error:
        case Refusal():
            return error
        case QueryRefused():
            return Refusal("question_refused", str(error))
        case BudgetExceeded():
            return Refusal("budget_exceeded", str(error))
        case InvalidParameter():
            return Refusal("invalid", str(error))
        case AnswerFailed():
            return Refusal("answer_failed", str(error))
        case KeyReused():
            return Refusal("key_reused", str(error))
        case DataUnavailable():
            return Refusal("data_unavailable", str(error))
        case LedgerUnavailable():
            return Refusal("ledger_unavailable", "The ledger cannot be read or written now: ask again in a moment.")
        case LedgerUntrusted():
            return Refusal("ledger_untrusted", "The ledger is not what was written; nothing is answered until it is.")
    return Refusal(
        "internal", "Something went wrong in the server. What was charged stays charged, and is not charged twice."
    )
