"""The accounts of multi-user mode, as the person whose data directory it is manages them: here, or through a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from restante.domain.account import check_account
from restante.domain.errors import Forbidden, Refused
from restante.system.passwords import hash_password, is_password
from restante.system.places import data_directory
from restante.system.remote import RemoteWindow
from restante.system.secrets import known_person_token, new_person_token, person_token_time
from restante.wiring.sessions import open_exchange, open_plain_window

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from restante.domain.account import Dismissed
    from restante.exchange import Exchange

__all__ = [
    "AccountBook",
    "hash_password",
    "is_password",
    "open_accounts",
    "person_proof",
    "person_token_made",
    "person_token_mark",
    "renew_person_token",
]


def person_proof(environment: Mapping[str, str]) -> bytes:
    """Return the token that proves the person of this machine; empty where there is none yet."""
    return known_person_token(data_directory(environment)).encode()


def person_token_made(environment: Mapping[str, str]) -> datetime | None:
    """Return when the token that proves the person of this machine was made; ``None`` where there is none."""
    return person_token_time(data_directory(environment))


def person_token_mark(environment: Mapping[str, str]) -> str:
    """Return by what that token can be told among those that are trusted; empty where there is none."""
    from restante.exchange import Exchange

    token = known_person_token(data_directory(environment))
    return Exchange.mark_of(token) if token else ""


def renew_person_token(environment: Mapping[str, str], exchange: Exchange) -> None:
    """Let another token prove the person of this machine: who has the old one, or entered a page by it, is out.

    Raises:
        StorageFailed: It cannot be written; then nothing changes.
    """
    data = data_directory(environment)
    old = known_person_token(data)
    # Whoever is killed in between has one that the next command lets be trusted.
    exchange.trust_person(new_person_token(data))
    if old:
        exchange.distrust_person(old)


class AccountBook(Protocol):
    """The accounts, for the person."""

    def accounts(self) -> list[str]:
        """Return their names, sorted."""

    def add_account(self, name: str, password: str) -> None:
        """Add one.

        Raises:
            UsageError: The name or the password is none.
            Refused: There is one of this name.
        """

    def delete_account(self, name: str, *, ends_sessions: bool = False) -> Dismissed:
        """Delete one; its sessions stay, shut out, or end with their mail.

        Raises:
            NothingThere: There is none of this name.
        """


def open_accounts(environment: Mapping[str, str]) -> AccountBook:
    """Open the accounts of the server that is configured or lives here, else those in the register.

    Raises:
        Forbidden: The caller is not proven to be the person.
    """
    window = open_plain_window(environment)
    if isinstance(window, RemoteWindow):
        return window
    identity = window.identity
    if identity.session or not identity.verified:
        raise Forbidden(
            "only the person whose server this is may do this", remedy="let that person do it, by the token"
        )
    return _OwnBook(open_exchange(environment))


class _OwnBook:
    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._accounts = exchange.accounts

    def accounts(self) -> list[str]:
        return self._accounts.names()

    def add_account(self, name: str, password: str) -> None:
        check_account(name, password)
        if self._accounts.password_hash(name) is not None:
            raise Refused(f"there is an account {name!r}", remedy="delete it first, or take another name")
        self._accounts.add(name, hash_password(password))

    def delete_account(self, name: str, *, ends_sessions: bool = False) -> Dismissed:
        return self._exchange.dismiss(name, ends_sessions=ends_sessions)
