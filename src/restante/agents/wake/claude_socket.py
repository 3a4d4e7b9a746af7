"""Claude Code: the inbox socket of a session, as its own ``SendMessage`` uses it. By name only.

``$CLAUDE_CONFIG_DIR/sessions/PID.json`` names the socket; one line of JSON is a message, shown to the user as one of
another session, which can grant nothing. What is sent asserts no permission mode: that is how the program tells whose
words count. The socket answers nothing; the receipt is that the session's own transcript holds the wake's word
(2.1.332). Where the user has messages held, it stays unconfirmed.
"""

from __future__ import annotations

import glob
import json
import os
import socket
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.agents.regular import read_regular, read_tail
from restante.domain.monitor import Wake, Woken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.monitor import Target

# The one kind of line that is sent.
METHODS = ("user",)

_SECONDS = 5.0
_PATIENCE = 5.0
_LOOK_SECONDS = 0.1
_TAIL = 262_144


class ClaudeSocket:
    """A ``ports.monitoring.Waker`` by the inbox socket of a Claude Code session.

    Args:
        environment: Where ``CLAUDE_CONFIG_DIR`` or ``HOME`` comes from.
        patience: Seconds to wait for the message to stand in the session's transcript.
    """

    name = "claude-socket"
    is_default = False

    def __init__(self, environment: Mapping[str, str], *, patience: float = _PATIENCE) -> None:
        home = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(environment.get("HOME", os.sep), ".claude")
        self._home = home
        self._patience = patience

    def can_wake(self, target: Target) -> str:
        """Return why it cannot wake this session; see ``Waker``."""
        path = self._socket_of(target.session)
        if not path:
            return "no Claude Code process of this machine says that it runs the session"
        try:
            found = os.lstat(path)
        except OSError:
            return f"{path} is gone: the session ended, or takes no messages"
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
            return f"{path} is not a socket of yours"
        return ""

    def wake(self, target: Target, text: str) -> Woken:
        """Send the session a message; see ``Waker``."""
        reason = self.can_wake(target)
        if reason:
            return Woken(Wake.IMPOSSIBLE, reason)
        message = {"role": METHODS[0], "content": f"[restante:{target.nonce}] {text}"}
        line = json.dumps({"type": METHODS[0], "message": message}).encode() + b"\n"
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_SECONDS)
                connection.connect(self._socket_of(target.session))
                connection.sendall(line)
                connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            return Woken(Wake.UNCONFIRMED, f"the session's socket took nothing: {error}")
        end = time.monotonic() + self._patience
        while time.monotonic() < end:
            if self._is_told(target):
                return Woken(Wake.CONFIRMED, receipt=target.nonce)
            time.sleep(_LOOK_SECONDS)
        return Woken(Wake.UNCONFIRMED, "the session shows no such message: its user may have messages held")

    def _socket_of(self, session: str) -> str:
        """Return the socket of a session as its process wrote it down; empty for none."""
        for path in glob.glob(os.path.join(glob.escape(self._home), "sessions", "*.json")):
            with suppress(OSError, ValueError, RecursionError):
                told = json.loads(read_regular(path))
                if isinstance(told, dict) and told.get("sessionId") == session:
                    found = told.get("messagingSocketPath")
                    return found if isinstance(found, str) and os.path.isabs(found) else ""
        return ""

    def _is_told(self, target: Target) -> bool:
        word = f"[restante:{target.nonce}]".encode()
        place = os.path.join(glob.escape(self._home), "projects", "*", glob.escape(target.session) + ".jsonl")
        for path in glob.glob(place):
            with suppress(OSError):
                if word in read_tail(path, _TAIL):
                    return True
        return False
