"""Errors cross the wire and stay the same class."""

from __future__ import annotations

import json
from typing import Any

import pytest

from restante.domain import envelope, errors


def over(value: Any) -> Any:
    return json.loads(json.dumps(value))


KINDS = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.RestanteError)]


def sample(kind: type[errors.RestanteError]) -> errors.RestanteError:
    if issubclass(kind, errors.RateLimited):
        return kind("too many", retry_after=7)
    if issubclass(kind, errors.BadConfig):
        return kind(("one", "two"))
    return kind("what went wrong", remedy="do this", details=({"code": "x", "line": 1},))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_comes_back_as_the_same_class(kind: type[errors.RestanteError]) -> None:
    error = sample(kind)
    with pytest.raises(kind) as raised:
        envelope.data_of(over(envelope.of_error(error)))
    again = raised.value
    assert type(again) is kind
    assert (again.message, again.remedy, again.details) == (error.message, error.remedy, error.details)
    assert 400 <= envelope.status_of(error) <= 599


@pytest.mark.parametrize(
    ("kind", "status", "word"),
    [
        (errors.MailboxFull, 409, "CONFLICT"),
        (errors.Conflict, 409, "CONFLICT"),
        (errors.SessionBusy, 409, "SESSION_BUSY"),
        (errors.RateLimited, 429, "RATE_LIMITED"),
        (errors.TooLarge, 400, "INVALID_INPUT"),
        (errors.NoSuchSession, 404, "NOT_FOUND"),
        (errors.Forbidden, 403, "FORBIDDEN"),
        (errors.Unauthorized, 401, "UNAUTHORIZED"),
        (errors.Screened, 422, "OPERATION_FAILED"),
        (errors.Busy, 503, "OPERATION_FAILED"),
        (errors.StorageFailed, 507, "INTERNAL_ERROR"),
    ],
)
def test_statuses_and_words_are_those_of_the_published_api(
    kind: type[errors.RestanteError], status: int, word: str
) -> None:
    error = sample(kind)
    assert (envelope.status_of(error), envelope.of_error(error)["errorCode"]) == (status, word)


def test_a_word_of_another_server_becomes_the_nearest_class() -> None:
    with pytest.raises(errors.SessionBusy, match="full"):
        envelope.data_of({"success": False, "error": "full", "errorCode": "SESSION_BUSY"})
    with pytest.raises(errors.RateLimited):
        envelope.data_of({"success": False, "error": "slow", "errorCode": "RATE_LIMITED"})
    with pytest.raises(errors.RestanteError):
        envelope.data_of({"success": False, "error": "odd", "errorCode": "LAST_ADMIN"})


@pytest.mark.parametrize("document", [None, [], {}, {"success": "yes"}, "text"])
def test_what_is_no_envelope_is_not_taken_for_one(document: Any) -> None:
    with pytest.raises(TypeError, match="no envelope"):
        envelope.data_of(document)
