"""Every English word of the window. See ``domain.saying``."""

from __future__ import annotations

from typing import Any

from restante.domain.saying import said

ENGLISH = {
    "app": "Restante",
    "choose.title": "Choose a worktree",
    "choose.failed": "This folder cannot be shown",
    "news": "{count:message is|messages are} unseen",
    "leaving.title": "Mail is in memory only",
    "leaving.text": "{count:message is|messages are} kept by the server of this window, and by no disk.",
    "leaving.leave": "Leave the server running",
    "leaving.end": "Let them go",
    "leaving.stay": "Stay",
    "shown": "the window that was open already is shown",
    "silent": "no notices of new mail: {reason}",
    "left": "the server runs on, since mail is in its memory only: restante desktop shows it again",
    "menu.back": "Back",
    "menu.reload": "Load again",
    "menu.close": "Close",
    "menu.larger": "Larger",
    "menu.smaller": "Smaller",
    "menu.usual": "Usual size",
}


def text(name: str, /, **values: Any) -> str:  # noqa: ANN401  whatever a text names
    """Return a text with its values filled in.

    Raises:
        KeyError: There is no text of that name, or a value is missing.
    """
    return said(ENGLISH, name, values)
