"""Is there mail? The guard's question for programs that run Python already. Imports nothing but ``os``."""

import os


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
