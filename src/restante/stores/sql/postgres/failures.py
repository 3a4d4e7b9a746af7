"""What PostgreSQL and psycopg say, in our words."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg

from restante.domain.errors import BadText, Busy, Damaged, RestanteError, StorageFailed, TooLarge, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

# Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html.
_TAKEN = {"40P01": "two writers waited for each other", "55P03": "it was locked for too long", "40001": "others wrote"}
_GONE = ("08", "57P", "25P03", "25P04", "57014")
_REFUSED_FOR_NOW = {"53300": "it has no connection left to give", "25006": "it is a standby, which only reads"}
_REMEDIES = {
    "53100": "free some space on the server's disk",
    "53200": "give the server more memory",
    "58": "see that the server's disk is well",
    "28": "correct the user or the password of the URL (or of ~/.pgpass)",
    "3D": "create the database, or correct its name in the URL",
    "42501": "let the user of the URL create a schema in this database, and own what is in it",
}
# libpq gives no code for a connection that was refused; these words it takes from the server.
_REFUSED_FOR_GOOD = (
    ("authentication failed", "28"),
    ("no password supplied", "28"),
    ("no pg_hba.conf entry", "28"),
    ('role "', "28"),
    ('database "', "3D"),
)
AGAIN = "try again in a moment"
AGAIN_SAME = "try again with the same client id: what was stored will be found, and not stored twice"


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn any error of psycopg in the block into ours, about a database."""
    try:
        yield
    except psycopg.Error as error:
        raise failure(where, error) from error
    except UnicodeEncodeError as error:
        raise BadText(f"{error.object!r} is not text", remedy="send text that is valid UTF-8") from None


@contextmanager
def committing(where: str) -> Iterator[None]:
    """The same for a block that commits: an answer that was lost leaves open what happened, and says so."""
    try:
        yield
    except psycopg.Error as error:
        if is_lost(error):
            raise Busy(
                f"{where} did not say whether it stored this ({_first_line(error)})", remedy=AGAIN_SAME
            ) from error
        raise failure(where, error) from error


def is_lost(error: psycopg.Error) -> bool:
    """Tell whether an error is about the connection, or about a server that is gone, and not about what was asked."""
    code = error.sqlstate
    if code is None:
        return isinstance(error, psycopg.OperationalError)
    return code.startswith(_GONE) or code in _REFUSED_FOR_NOW


def failure(where: str, error: psycopg.Error) -> RestanteError:
    """Return our error for one of psycopg's, naming the database and the mend."""
    code, line = error.sqlstate or _code_of_refusal(error), _first_line(error)
    if code in _TAKEN:
        return Busy(f"{where}: {_TAKEN[code]}; nothing was changed", remedy=AGAIN)
    if code in _REFUSED_FOR_NOW:
        return Busy(f"{where}: {_REFUSED_FOR_NOW[code]}; nothing was changed", remedy=AGAIN)
    if is_lost(error) and code not in {"28", "3D"}:
        return Busy(f"{where} cannot be reached, or was stopped ({line}); nothing was changed", remedy=AGAIN)
    if code.startswith("XX"):
        return Damaged(f"{where}: {line}", remedy="it was left as it is: ask whoever runs the server")
    if code in {"22021", "22P05"}:
        return BadText(f"{where}: {line}", remedy="send text that is valid UTF-8")
    if code == "54000":
        return TooLarge(f"{where}: an id or a name is longer than an index takes ({line})", remedy="use a shorter one")
    if code in {"42P07", "42P06", "42710", "42P01", "42703"}:
        return Unreadable(
            f"{where}: the schema holds tables of another program, or not all of ours ({line})",
            remedy="name another database; this one was left as it is",
        )
    remedy = next((text for start, text in _REMEDIES.items() if code.startswith(start)), "")
    return StorageFailed(f"{where}: {line}", remedy=remedy)


def _code_of_refusal(error: psycopg.Error) -> str:
    text = str(error)
    return next((code for words, code in _REFUSED_FOR_GOOD if words in text), "")


def _first_line(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
