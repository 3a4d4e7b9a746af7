"""``restante account``. A password is read from standard input or asked for; it is never on a command line."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.domain.text import visible
from restante.faces.cli.output import say, tell

if TYPE_CHECKING:
    from restante.wiring.accounts import AccountBook

_MOST_BYTES = 8192


def _book() -> AccountBook:
    from restante.wiring.accounts import open_accounts

    return open_accounts(os.environ)


def add(name: str, as_json: bool, **_common: object) -> None:
    """Add an account."""
    book = _book()
    was_first = not book.accounts()
    book.add_account(name, _password())
    _answer(name, "added", as_json)
    if was_first:
        tell("from now on the server needs to know who asks: put NAME:PASSWORD@ before the host in server.url")


def list_accounts(as_json: bool, **_common: object) -> None:
    """List the accounts."""
    names = _book().accounts()
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"accounts": [{"name": name} for name in names]})
        return
    for name in names:
        say(visible(name))
    if not names:
        say("no accounts: everything belongs to the one person whose machine it is")


def remove(name: str, sessions: bool, as_json: bool, **_common: object) -> None:
    """Delete an account; its sessions stay, shut out, or end with their mail."""
    dismissed = _book().delete_account(name, ends_sessions=sessions)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"name": name, "sessionsEnded": dismissed.ended, "sessionsLeft": dismissed.left})
        return
    say(f"removed {visible(name)}" + (f"; sessions ended, with their mail: {dismissed.ended}" if sessions else ""))
    if dismissed.left:
        tell(
            f"{dismissed.left} of its sessions stay with their mail, shut out from now on; "
            f"end them: restante account remove {visible(name)} --sessions"
        )


def _answer(name: str, words: str, as_json: bool) -> None:
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"name": name})
        return
    say(f"{words} {visible(name)}")


def _password() -> str:
    if not sys.stdin.isatty():
        data = sys.stdin.buffer.read(_MOST_BYTES)
        try:
            return data.decode().rstrip("\r\n")
        except UnicodeDecodeError:
            raise UsageError("the password is not UTF-8", remedy="give it in UTF-8 on standard input") from None
    from getpass import getpass

    password = getpass("Password: ")
    if getpass("Again: ") != password:
        raise UsageError("the two differ", remedy="type the same twice")
    return password
