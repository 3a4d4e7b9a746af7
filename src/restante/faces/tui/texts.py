"""Every English word of the screen: those of all faces for people, and its own. See ``domain.saying``."""

from __future__ import annotations

from typing import Any

from restante.domain.saying import SHARED_ENGLISH, said

ENGLISH = {
    **SHARED_ENGLISH,
    "live.off": "the server does not answer; what you see may be old",
    "overview.who": "Who waits for whom",
    "overview.who.text": "An arrow leads from whoever wrote to whoever has not answered.",
    "overview.who.nobody": "Nobody waits for anybody.",
    "mailbox.bytes": "{count:byte|bytes}:",
    "repeats.how": "How often",
    "repeats.next": "next at {time}",
    "repeats.rests": "it rests until you resume it",
    "repeats.ask": "Remove this repeat?",
    "repeats.ask.text": "What it posted stays. It cannot be brought back.",
    "monitors.ask": "Stop watching this mailbox?",
    "monitors.ask.text": "{mailbox}: mail stays where it is, and wakes nobody.",
    "options.persistence.nowhere": "It has no place to wait: no server runs that could hold it.",
    "options.follows.on": "Its texts are written to the disk of the machine that keeps it, and outlive every program.",
    "options.follows.moves": "What is on disk moves into the server's memory, and goes when the server ends.",
    "options.follows.lost": "Messages that wait and would be deleted: {count}. No server runs that could hold them.",
    "options.follows.nowhere": "Nothing can be left for a session from then on, until a server runs.",
    "options.where": "In the environment: {variable}",
    "help.title": "Keys",
    "help.how": "Esc goes back.",
    "ask.how": "Enter does it, Esc goes back.",
    "key.help": "Help",
    "key.raw": "Bytes",
    "key.pause": "Pause, resume",
    "key.keep": "Keep mail on disk, or not",
    "key.quit": "Quit",
    "key.back": "Back",
    "key.write": "Write",
    "key.approvals": "Approvals",
    "key.filter": "Filter",
    "key.open": "Open",
    "key.older": "Older",
    "key.newest": "Newest",
    "key.why": "Why?",
    "key.again": "Look again",
    "key.leave": "Leave it",
    "key.approve": "Approve",
    "key.modify": "With a note",
    "key.decline": "Decline",
    "list.oldest": "Oldest",
    "list.role": "role",
    "list.worktree": "worktree",
    "list.held": "held by {name}",
    "list.left": "{count:more session fits|more sessions fit}; press / to look for some",
    "list.approvals": "{count:waits|wait} for your approval: press a",
    "list.troubled": "{count:monitor wakes|monitors wake} nobody, and mail waits for the next turn: press m",
    "list.filtered": "only: {words}",
    "letters.state": "State",
    "letters.from": "From",
    "letters.when": "When",
    "letters.what": "What",
    "letters.show": "shown: {which}",
    "letters.later": "newer messages are not shown: press n",
    "letters.older": "there are older ones: press o",
    "letters.nothing": "There are no older ones.",
    "approvals.agent": "Agent",
    "compose.completing": "Type a part of a name; Enter takes the first, ↓ goes to the list.",
    "compose.asked": "Change the text, or go to the second button and press Enter.",
    "compose.dropping": "There is a text. Press Esc again to drop it.",
    "decide.approved": "Approve this?",
    "decide.modified": "Approve it as your note says?",
    "decide.declined": "Decline this?",
    "decide.how": "Enter writes it down, Esc goes back.",
    "decide.needs": "What is changed? Say it in the note.",
    "decide.note": "Note",
}


def text(name: str, /, **values: Any) -> str:  # noqa: ANN401  whatever a text names
    """Return a text with its values filled in. What is filled in may be anybody's: the result is no markup.

    Raises:
        KeyError: There is no text of that name, or a value is missing.
    """
    return said(ENGLISH, name, values)
