"""Every English word of the pages: those of all faces for people, and their own. See ``domain.saying``."""

from __future__ import annotations

from typing import Any

from restante.domain.saying import SHARED_ENGLISH

ENGLISH = {
    **SHARED_ENGLISH,
    "nav.label": "Pages",
    "nav.worktrees": "Worktrees",
    "nav.repeats": "Repeats",
    "nav.monitors": "Monitors",
    "nav.settings": "Settings",
    "skip": "To the content",
    "live.on": "live",
    "live.off": "not connected; what you see may be old",
    "enter.title": "Who are you?",
    "enter.how": "This page shows what is written between you and your agents. Open it from a terminal here:",
    "enter.command": "restante ui",
    "enter.name": "Name",
    "enter.password": "Password",
    "enter.go": "Enter",
    "leave": "Sign out",
    "error.title": "That did not work",
    "error.back": "Back to the overview",
    "overview.more": "Show {count} more",
    "overview.who": "Who waits for whom",
    "overview.who.text": "An arrow leads from whoever wrote to whoever has not answered.",
    "overview.unproven": "nobody can tell whether its process still lives",
    "overview.spark": "Unseen messages over the last hour: now {now}, at most {most}.",
    "mailbox.filter": "Show",
    "mailbox.raw": "as bytes",
    "mailbox.thread": "{count} messages of one conversation",
    "compose.to.hint": "what a session is called, TEAM/ROLE, or a line of the list",
    "compose.keys": "Ctrl+Enter leaves it.",
    "worktrees.title": "Worktrees",
    "worktrees.none": "No worktree is known yet. One is when a session registers in it.",
    "worktrees.shared": "An account sees no files of this machine.",
    "worktrees.path": "Worktree",
    "worktrees.installed": "Hooks",
    "worktrees.changes": "installing would change {count} files",
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
    "repeats.title": "Repeats",
    "repeats.none": "Nothing is repeated.",
    "repeats.every": "every {interval}",
    "repeats.sent": "posted {count} times",
    "repeats.active": "active",
    "repeats.paused": "paused",
    "repeats.pause": "Pause",
    "repeats.resume": "Resume",
    "repeats.remove": "Remove",
    "monitors.title": "Monitors",
    "monitors.none": "No mailbox is watched. An agent asks for it itself: restante monitor arm",
    "monitors.mailbox": "Mailbox",
    "monitors.state": "State",
    "monitors.mode": "When mail comes",
    "monitors.receiver": "Listener",
    "monitors.numbers": "Numbers",
    "monitors.sight": "{unseen} unseen, {noticed} noticed, mark {mark}",
    "monitors.stop": "Stop",
    "hearing.alive": "is heard of",
    "hearing.stale": "silent",
    "hearing.gone": "its process ended",
    "hearing.none": "none",
    "options.title": "Settings",
    "options.persistence": "Mail between sessions",
    "options.persistence.on": "It is kept on disk.",
    "options.persistence.off": "It is in memory only, and goes when the server ends.",
    "options.persistence.fixed": "The database keeps it.",
    "options.persistence.start": "Keep it on disk",
    "options.persistence.stop": "Keep it in memory only, and delete it from disk",
    "options.notices": "Notices of the browser",
    "options.notices.ask": "Tell me when more becomes unseen",
    "options.notices.on": "You are told while a page is open",
    "options.notices.no": "The browser does not allow it",
    "options.notice": "{count} unseen",
    "options.accounts": "Accounts",
    "options.accounts.none": "There are none: this machine's person sees everything.",
    "options.values": "What is in force",
    "options.values.text": "From the environment, the configuration file, or the default; a restart takes up changes.",
    "options.name": "Name",
    "options.value": "Value",
    "options.default": "Default",
    "options.help": "Meaning",
    "time.never": "never",
}

_TABLES = {"en": ENGLISH}


def text(name: str, /, *, language: str = "en", **values: Any) -> str:  # noqa: ANN401  whatever a text names
    """Return a text with its values filled in. The result is text, not HTML.

    Raises:
        KeyError: There is no text of that name, or a value is missing.
    """
    return _TABLES[language][name].format(**values)
