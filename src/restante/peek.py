"""Is there mail? The guard's question for programs that run Python already. Imports nothing but ``os`` and ``sys``."""

import os
import sys

# What type checkers take for true; importing it from ``typing`` would cost more than all else here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping


def mail_waits(root: str) -> bool:
    """Tell whether a checkpoint in a worktree would look into its mailbox.

    Args:
        root: The worktree's top level.
    """
    box = os.path.join(root, ".codex-mailbox")
    inbox = _time(box, "INBOX.md")
    if inbox is None:
        return False
    return (inbox, _time(box, "RECEIPTS.md")) != (_time(box, ".restante/quiet"), _time(box, ".restante/quiet-receipts"))


def _time(box: str, name: str) -> "int | None":
    try:
        path = os.path.join(box, name)
        # A link in the place of a stamp of ours could be made to point at what it is compared with.
        return (os.lstat if name.startswith(".restante/") else os.stat)(path).st_mtime_ns
    except OSError:
        return None


def sessions_are_used(environment: "Mapping[str, str]") -> bool:
    """Tell whether this machine has a register of sessions, or a server that says so in the data directory.

    The directory is that of ``system.places``, found without the library that knows every platform: a command in a
    worktree asks this each time, and mostly there is none.
    """
    place = environment.get("RESTANTE_DATA") or _usual_place(environment)
    return bool(place) and any(os.path.exists(os.path.join(place, name)) for name in ("restante.db", "server.json"))


def _usual_place(environment: "Mapping[str, str]") -> str:
    home, base = environment.get("HOME", ""), environment.get("XDG_DATA_HOME", "").strip()
    if not os.path.isabs(home):
        return ""
    if not os.path.isabs(base):
        below = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "share")
        base = os.path.join(home, *below)
    return os.path.join(base, "restante")
