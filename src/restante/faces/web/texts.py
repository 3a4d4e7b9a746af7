"""Every English word of the pages: those of all faces for people, and their own. See ``domain.saying``."""

from __future__ import annotations

from typing import Any

from restante.domain.saying import SHARED_ENGLISH, said

ENGLISH = {
    **SHARED_ENGLISH,
    "nav.label": "Pages",
    "nav.worktrees": "Worktrees",
    "skip": "To the content",
    "live.on": "live",
    "live.off": "not connected; what you see may be old",
    "enter.title": "Who are you?",
    "enter.how": "This page shows what is written between you and your agents. Open it from a terminal here:",
    "enter.command": "restante ui",
    "enter.again": "You are signed out: open this page again from a terminal here, in another tab",
    "enter.name": "Name",
    "enter.password": "Password",
    "enter.go": "Enter",
    "leave": "Sign out",
    "error.back": "Back to the overview",
    "overview.more": "Show {count} more",
    "overview.unproven": "nobody can tell whether its process still lives",
    "overview.spark": "Unseen messages over the last hour: now {now}, at most {most}.",
    "mailbox.filter": "Show",
    "mailbox.find": "Search in texts",
    "mailbox.find.go": "Search",
    "mailbox.find.off": "Texts are not searched.",
    "mailbox.further": "Look further back",
    "mailbox.notyet": "Nothing so far; there are older ones.",
    "mailbox.raw": "as bytes",
    "mailbox.thread": "{count:message|messages} of one conversation",
    "compose.to.hint": "what a session is called, TEAM/ROLE, or a line of the list",
    "compose.keys": "Ctrl+Enter leaves it.",
    "worktrees.title": "Worktrees",
    "worktrees.none": "No worktree is known yet. One is when a session registers in it.",
    "worktrees.shared": "An account sees no files of this machine.",
    "worktrees.path": "Worktree",
    "worktrees.installed": "Hooks",
    "worktrees.changes": "installing would change {count:file|files}",
    "worktrees.done": "installed",
    "worktree.installed": "Installed. Sessions that start from now on look for their mail.",
    "worktree.mailbox": "Its mailbox",
    "worktree.checks": "What is well, and what is not",
    "worktree.plan": "What installing would change",
    "worktree.install": "Install as shown",
    "worktree.threads": "Codex threads",
    "worktree.threads.none": "There are none.",
    "check.ok": "well",
    "check.bad": "not well",
    "check.unknown": "unknown",
    "repeats.pause": "Pause",
    "repeats.resume": "Resume",
    "options.search": "Search in texts",
    "options.search.on": "You allow it.",
    "options.search.off": "Nobody can: you did not allow it.",
    "options.search.text": "Only you can search, only your own mailboxes, and no index is made of them.",
    "options.search.start": "Allow it",
    "options.search.stop": "Allow it no longer",
    "options.notices": "Notices of the browser",
    "options.notices.ask": "Tell me when more becomes unseen",
    "options.notices.on": "You are told while a page is open",
    "options.notices.no": "The browser does not allow it",
    "options.notice": "{count} unseen",
    "options.accounts": "Accounts",
    "options.accounts.none": "There are none: this machine's person sees everything.",
    "options.values": "What is in force",
    "options.help": "Meaning",
    "time.never": "never",
}

_TABLES = {"en": ENGLISH}


def text(name: str, /, *, language: str = "en", **values: Any) -> str:  # noqa: ANN401  whatever a text names
    """Return a text with its values filled in. The result is text, not HTML.

    Raises:
        KeyError: There is no text of that name, or a value is missing.
    """
    return said(_TABLES[language], name, values)
