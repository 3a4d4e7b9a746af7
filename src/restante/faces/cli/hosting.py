"""``restante monitor run``."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Refused
from restante.domain.text import visible
from restante.faces.cli.output import json_line, say, tell

if TYPE_CHECKING:
    from types import FrameType


def run(directory: str, as_json: bool) -> int:
    """Listen for all armed mailboxes until told to stop; end with success then.

    Raises:
        Refused: A server is configured; it listens where its mail is.
    """
    from restante.config import load_settings
    from restante.wiring.receiving import Receivers

    del directory
    if load_settings(os.environ).server_url:
        raise Refused(
            "server.url names a server, which keeps the mail and listens for what is armed there",
            remedy="run it on the server's machine, or let restante serve do it",
        )

    def said(sentence: str) -> None:
        # Who reads it may have gone; the sessions are woken all the same.
        with suppress(OSError):
            say(json_line({"said": sentence}) if as_json else visible(sentence).replace("\n", "\\n"))
            sys.stdout.flush()

    receivers = Receivers(os.environ, say=said)

    def stop(_: int, __: FrameType | None) -> None:
        receivers.stop()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    if receivers.looks:
        tell("bells are heard by looking once a second: the data directory takes no FIFO")
    said("listening for what is armed; end it with Ctrl-C")
    receivers.run()
    said("no longer listening")
    return 0
