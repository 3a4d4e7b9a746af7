"""Accounts: with the first one, every request needs an owner. Passwords are kept as Argon2id hashes."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from restante.domain.account import check_account
from restante.domain.errors import Refused, Unauthorized
from restante.faces.http.guards import Buckets
from restante.wiring.accounts import hash_password, is_password

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from restante.domain.account import Dismissed
    from restante.exchange import Exchange

FAILURES = 10
FAILURE_SECONDS = 900.0

_Value = TypeVar("_Value")

# A right password is remembered so long, so that not every request pays for the hash.
_REMEMBERED_SECONDS = 60.0
# A change that another server of the same database made is noticed after so long.
_FRESH_SECONDS = 5.0
_MOST_REMEMBERED = 1024


class Password(NamedTuple):
    """Name and password as they came."""

    name: str
    password: str


def basic_of(header: bytes) -> Password | None:
    """Read an ``Authorization: Basic`` header; ``None`` when it is none.

    Raises:
        Unauthorized: It is one, and malformed.
    """
    scheme, _, rest = header.partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        name, separator, password = base64.b64decode(rest.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        separator = ""
    if not separator:
        raise Unauthorized("the Authorization header is malformed", remedy="send Basic with name:password in base64")
    return Password(name, password)


class Accounts:
    """The accounts of a server.

    Args:
        time: A clock that only grows.
        submit: Asks the exchange; see ``Worker.submit``.
    """

    def __init__(self, time: Callable[[], float], submit: Callable[..., Awaitable[Any]]) -> None:
        self._time = time
        self._submit = submit
        self._hashes: dict[str, str] = {}
        self._read_at = float("-inf")
        # One at a time: each check takes some 20 MB, and guessing must not take all of a machine.
        self._thread = ThreadPoolExecutor(1, "restante-passwords")
        self._key = secrets.token_bytes(32)
        self._right: dict[bytes, float] = {}
        rate = FAILURES / FAILURE_SECONDS
        self._by_address = Buckets(rate, FAILURES, time, "wrong passwords from this address")
        self._by_name = Buckets(rate, FAILURES, time, "wrong passwords for this account")

    async def are_there(self) -> bool:
        """Whether there is any account, so that every request needs an owner."""
        if self._time() - self._read_at > _FRESH_SECONDS:
            self._take(await self._asked(_read))
        return bool(self._hashes)

    @property
    def needs_owner(self) -> bool:
        """Whether there was any account when last looked."""
        return bool(self._hashes)

    def knows(self, name: str, exchange: Exchange) -> bool:
        """Tell whether there is an account of this name; one that was made elsewhere a moment ago counts."""
        return name in self._hashes or exchange.accounts.password_hash(name) is not None

    async def listed(self) -> list[str]:
        """Return the names of the accounts."""
        self._take(await self._asked(_read))
        return sorted(self._hashes)

    async def add(self, name: str, password: str) -> None:
        """Add an account.

        Raises:
            UsageError: The name or the password is none.
            Refused: There is one of this name.
        """
        check_account(name, password)
        digest = await self._in_thread(hash_password, password)

        def change(exchange: Exchange) -> dict[str, str]:
            if name in exchange.accounts.names():
                raise Refused(f"there is an account {name!r}", remedy="delete it first, or take another name")
            exchange.accounts.add(name, digest)
            return _read(exchange)

        self._take(await self._asked(change))

    async def delete(self, name: str, *, ends_sessions: bool) -> Dismissed:
        """Delete an account; its sessions stay, shut out, or end with their mail.

        Raises:
            NothingThere: There is none of this name.
        """

        def change(exchange: Exchange) -> tuple[dict[str, str], Dismissed]:
            dismissed = exchange.dismiss(name, ends_sessions=ends_sessions)
            return _read(exchange), dismissed

        done: tuple[dict[str, str], Dismissed] = await self._submit(change)
        self._take(done[0])
        self._right.clear()
        return done[1]

    async def owner(self, given: Password, address: str) -> str:
        """Return the owner whose password this is.

        Raises:
            Unauthorized: It is wrong, or there is no such account.
            RateLimited: Too many were wrong lately, from this address or for this account.
        """
        await self.are_there()
        now = self._time()
        digest = self._hashes.get(given.name, "")
        seen = hmac.digest(self._key, f"{digest}\0{given.name}\0{given.password}".encode(errors="replace"), "sha256")
        if digest and self._right.get(seen, float("-inf")) > now:
            return given.name
        self._by_address.check(address, take=False)
        self._by_name.check(given.name, take=False)
        if not await self._in_thread(is_password, digest, given.password):
            self._by_address.check(address)
            self._by_name.check(given.name)
            raise Unauthorized("wrong name or password", remedy="check both")
        if len(self._right) >= _MOST_REMEMBERED:
            self._right.clear()
        self._right[seen] = now + _REMEMBERED_SECONDS
        return given.name

    def stop(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _take(self, hashes: dict[str, str]) -> None:
        self._hashes = hashes
        self._read_at = self._time()

    async def _asked(self, ask: Callable[[Exchange], dict[str, str]]) -> dict[str, str]:
        hashes: dict[str, str] = await self._submit(ask)
        return hashes

    async def _in_thread(self, work: Callable[..., _Value], *given: str) -> _Value:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)


def _read(exchange: Exchange) -> dict[str, str]:
    accounts = exchange.accounts
    return {name: accounts.password_hash(name) or "" for name in accounts.names()}
