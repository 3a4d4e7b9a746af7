"""The accounts of multi-user mode, as the person whose data directory it is manages them: here, or through a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from restante.domain.account import check_account
from restante.domain.errors import Forbidden, Refused
from restante.system.passwords import hash_password, is_password
from restante.system.places import data_directory
from restante.system.remote import RemoteWindow
from restante.system.secrets import known_person_token
from restante.wiring.sessions import open_exchange, open_plain_window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.account import Dismissed
    from restante.exchange import Exchange

__all__ = ["AccountBook", "hash_password", "is_password", "open_accounts", "person_proof"]


def person_proof(environment: Mapping[str, str]) -> bytes:
    """Return the token that proves the person of this machine; empty where there is none yet."""
    return known_person_token(data_directory(environment)).encode()


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
