"""How every answer of a server is wrapped: ``{success, data}``, or ``{success, error, errorCode, ...}``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.wire import JSON

# The published API knows these words only; ``code`` beside them is ours and tells the class exactly.
_WORDS = {
    400: "INVALID_INPUT",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "INVALID_INPUT",
    409: "CONFLICT",
    410: "NOT_FOUND",
    413: "INVALID_INPUT",
    422: "OPERATION_FAILED",
    429: "RATE_LIMITED",
    503: "OPERATION_FAILED",
}
_CLASSES_BY_WORD: dict[str, type[errors.RestanteError]] = {
    "INVALID_INPUT": errors.UsageError,
    "UNAUTHORIZED": errors.Unauthorized,
    "FORBIDDEN": errors.Forbidden,
    "NOT_FOUND": errors.NothingThere,
    "CONFLICT": errors.Refused,
    "SESSION_BUSY": errors.SessionBusy,
    "OPERATION_FAILED": errors.Refused,
    "RATE_LIMITED": errors.RateLimited,
}


def status_of(error: errors.RestanteError) -> int:
    """Return the HTTP status of an error. A message over its cap can never fit, so it is a malformed request."""
    return 400 if isinstance(error, errors.TooLarge) else error.http_status


def word_of(error: errors.RestanteError) -> str:
    """Return the published API's word for an error."""
    if isinstance(error, errors.SessionBusy):
        return "SESSION_BUSY"
    return _WORDS.get(status_of(error), "INTERNAL_ERROR")


def of_error(error: errors.RestanteError) -> JSON:
    """Return the envelope of an error."""
    value: JSON = {
        "success": False,
        "error": error.message,
        "errorCode": word_of(error),
        "code": error.code,
        "remedy": error.remedy,
        "details": [dict(one) for one in error.details],
    }
    if isinstance(error, errors.RateLimited):
        value["retryAfter"] = error.retry_after
    return value


def error_from(value: Mapping[str, Any]) -> errors.RestanteError:
    """Read an error from its envelope; the same class comes back, or the nearest for a word of another server."""
    kind = _known().get(value.get("code", "")) or _CLASSES_BY_WORD.get(value.get("errorCode", ""), errors.RestanteError)
    message = str(value.get("error", "")) or "the server did not say why"
    if issubclass(kind, errors.RateLimited):
        return kind(message, retry_after=int(value.get("retryAfter", 1)))
    if issubclass(kind, errors.BadConfig):
        return kind((message,))
    details = tuple(dict(one) for one in value.get("details", ()))
    return kind(message, remedy=str(value.get("remedy", "")), details=details)


def _known() -> dict[str, type[errors.RestanteError]]:
    """Return the classes of the one error tree by their codes; a face's own ones mean nothing to a client."""
    classes = [one for one in vars(errors).values() if isinstance(one, type)]
    return {one.code: one for one in classes if issubclass(one, errors.RestanteError)}


def data_of(document: object) -> Any:  # noqa: ANN401
    """Open an envelope.

    Returns:
        What is in it.

    Raises:
        RestanteError: It is an error; the same class that the server raised.
        TypeError: It is no envelope.
    """
    if not isinstance(document, dict) or not isinstance(document.get("success"), bool):
        raise TypeError("the answer is no envelope")
    if not document["success"]:
        raise error_from(document)
    return document["data"]
