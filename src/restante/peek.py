"""Is there mail? The guard's question for programs that run Python already. Imports nothing but ``os``."""

import os


def mail_waits(root: str) -> bool:
    """Tell whether a checkpoint in a worktree would look into its mailbox.

    Args:
        root: The worktree's top level.
    """
    box = os.path.join(root, ".codex-mailbox")
    try:
        inbox = os.stat(os.path.join(box, "INBOX.md")).st_mtime_ns
    except OSError:
        return False
    try:
        return os.stat(os.path.join(box, ".restante", "quiet")).st_mtime_ns != inbox
    except OSError:
        return True
