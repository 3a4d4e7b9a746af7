"""``restante persist``, ``restante serve`` and ``restante mcp``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from restante.domain import wire
from restante.domain.errors import Refused, UsageError
from restante.faces.cli.command import SWITCHES
from restante.faces.cli.output import say, tell
from restante.faces.cli.switches import check_loss
from restante.faces.cli.windows import number_from, window_of

if TYPE_CHECKING:
    from restante.domain.overview import Persistence

_MODULE = "restante.faces.http"
# How long the page waits for the server that is starting.
_PATIENCE = "20s"


def persist(switch: str | None, yes: bool, directory: str, as_json: bool) -> None:
    """Show or decide whether mail between sessions is kept on disk."""
    word = switch if switch is not None else "status"
    if word not in SWITCHES:
        raise UsageError(f"unknown word {word!r}", remedy=f"use one of: {', '.join(SWITCHES)}")
    window = window_of(directory, only_looks=word == "status")
    found = before = window.persistence()
    if word != "status":
        is_person = window.identity.verified and not window.identity.session
        if word == "off" and is_person:
            check_loss(before, may_ask=not (yes or as_json), yes=yes)
        found = window.set_persistence(word == "on")
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json(wire.of_persistence(found))
        return
    say(_words(found))
    if before.is_on and not found.is_on and found.has_server:
        tell("what was on disk moved into the server's memory, and goes when the server ends; nothing was lost")
    if not found.is_on and not found.has_server:
        tell("mail between sessions has no place to wait: restante persist on, or restante serve")


def _words(found: Persistence) -> str:
    if found.is_fixed:
        return "on: the database keeps mail between sessions, which cannot be switched"
    if found.is_on:
        return "on: mail between sessions is kept on disk"
    where = "the server holds it in memory" if found.has_server else "no server runs that could hold it"
    return f"off: no text of mail between sessions is written to disk; {where}"


def mcp(directory: str) -> None:
    """Run the server of tools in place of this process."""
    os.chdir(directory)
    # The short way, which loads nothing that the command line needs.
    command = [sys.executable, "-I", "-c", "from restante.__main__ import main; main()", "mcp"]
    os.execv(sys.executable, command)  # noqa: S606 - no shell is wanted


def serve(host: str | None, port: str | None, systemd: bool, launchd: bool, opens: bool, directory: str) -> None:
    """Run the server in place of this process; ``opens`` shows its page once it is there."""
    from importlib.util import find_spec

    if port is not None and number_from(port, what="--port") > 65_535:
        raise UsageError(f"--port {port!r} is no port", remedy="0 to 65535")
    if any(find_spec(name) is None for name in ("starlette", "uvicorn", "msgspec")):
        raise Refused("the server's parts are not installed", remedy="pip install 'restante[serve]'")
    words = [sys.executable, "-I", "-m", _MODULE]
    words += ["--host", host] if host is not None else []
    words += ["--port", port] if port is not None else []
    words += [flag for flag, is_given in (("--systemd", systemd), ("--launchd", launchd)) if is_given]
    if opens:
        _open_later()
    os.chdir(directory)
    sys.stdout.flush()
    os.execv(sys.executable, words)  # noqa: S606 - no shell is wanted


def _open_later() -> None:
    """Start a child that opens the page as soon as the server that this process becomes is there."""
    import subprocess

    words = [sys.executable, "-I", "-c", "from restante.__main__ import main; main()", "ui", "--wait", _PATIENCE]
    subprocess.Popen(words, stdin=subprocess.DEVNULL)
