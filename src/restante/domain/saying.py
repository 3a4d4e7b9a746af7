"""The English words that every face for people shows, in one place: of sessions, mailboxes, writing and approvals.

Another language is another table with the same names. What only one face says stands there. Where a word goes by a
number, ``{count:message|messages}`` stands for both: ``1 message``, ``2 messages``.
"""

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARED_ENGLISH = MappingProxyType(
    {
        "app": "Restante",
        "error.title": "That did not work",
        "nav.overview": "Overview",
        "nav.compose": "Write",
        "nav.approvals": "Approvals",
        "overview.title": "Overview",
        "overview.none": "No session has registered yet. One does when it starts in a worktree with hooks, or by: "
        "restante session start",
        "overview.session": "Session",
        "overview.state": "State",
        "overview.mail": "Mail",
        "overview.oldest": "Oldest unseen",
        "overview.why": "Why look",
        "overview.worktree": "Worktree",
        "overview.filter": "Filter",
        "overview.pairs": "{one} and {other} wait for each other.",
        "overview.counts": "{sessions:session|sessions}, {unseen} unseen, {pending} pending",
        "state.idle": "idle",
        "state.busy": "busy",
        "state.blocked": "blocked",
        "state.gone": "gone",
        "state.detached": "detached",
        "state.new": "new",
        "state.parked": "waits for mail",
        "reason.exited": "its process ended",
        "reason.blocked": "a dialog waits for you: {blocked}",
        "reason.waiting-inbox": "waits for mail",
        "reason.inbox-unread": "idle, and has not read its mail",
        "reason.inbox-unacked": "idle, and has not answered",
        "reason.open-todos": "idle, with open items",
        "reason.done": "done",
        "mailbox.title": "Mailbox of {name}",
        "mailbox.none": "Nothing was ever posted here.",
        "mailbox.nomatch": "Nothing fits the filter.",
        "mailbox.older": "Older",
        "mailbox.filter.all": "all",
        "mailbox.filter.pending": "pending",
        "mailbox.filter.unseen": "unseen",
        "mailbox.filter.answered": "answered",
        "mailbox.from": "from {name}",
        "mailbox.why": "Why did nothing happen?",
        "mailbox.write": "Write to it",
        "mailbox.history": "What became of it",
        "mailbox.reply": "reply",
        "mailbox.counts": "{total:message|messages}, {unseen} unseen, {pending} pending",
        "step.queued": "queued",
        "step.noticed": "noticed",
        "step.seen": "seen",
        "step.decision": "decision",
        "step.action": "action",
        "step.withdrawn": "withdrawn",
        "step.expired": "expired",
        "compose.title": "Write",
        "compose.to": "To",
        "compose.text": "Text",
        "compose.priority": "Priority",
        "compose.scope": "About",
        "compose.subject": "Subject",
        "compose.conversation": "Conversation",
        "compose.expires": "Expires in",
        "compose.expires.hint": "for example 90m, 12h or 1d; empty for the usual time",
        "compose.repeat": "Repeat every",
        "compose.repeat.hint": "for example 30m; empty for once. Worktrees only",
        "compose.send": "Leave it",
        "compose.anyway": "Leave it anyway",
        "compose.sent": "Left for {name}: {id}. It is collected at the next checkpoint.",
        "compose.duplicate": "It had been left before: {id}.",
        "compose.findings": "Look again before it leaves:",
        "approvals.title": "Approvals",
        "approvals.none": "Nothing waits for you.",
        "approvals.asks": "{sender} asks {agent} for a {kind}",
        "approvals.stage.admission": "before the work",
        "approvals.stage.checkpoint": "within the work",
        "approvals.because": "Why it waits",
        "approvals.exceeded": "exceeded: {name}",
        "approvals.limits": "What was declared, beside the limits",
        "approvals.measure": "Measure",
        "approvals.declared": "Declared",
        "approvals.limit": "Limit",
        "approvals.effects": "What your word does",
        "approvals.effects.text": "It is written into the audit record below, with the time it took. Nothing is sent "
        "or moved by it: the agent acts on it in its next round, and a declined message is archived then.",
        "approvals.note": "Note",
        "approvals.grant": "It asks for a grant for its thread",
        "approvals.grant.denied": "denied",
        "approvals.grant.approved": "approved",
        "approvals.approve": "Approve",
        "approvals.modify": "Approve as the note says",
        "approvals.decline": "Decline",
        "approvals.record": "The audit record",
        "approvals.done.approved": "Approved.",
        "approvals.done.modified": "Approved, as your note says.",
        "approvals.done.declined": "Declined.",
        "nav.repeats": "Repeats",
        "nav.monitors": "Monitors",
        "nav.settings": "Settings",
        "repeats.title": "Repeats",
        "repeats.none": "Nothing is repeated.",
        "repeats.every": "every {interval}",
        "repeats.sent": "posted {count:time|times}",
        "repeats.active": "active",
        "repeats.paused": "paused",
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
        "mode.monitor": "its session is woken",
        "mode.turn": "its next turn shows it",
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
        "options.values.text": "From the environment, the configuration file, or the default; a restart takes up "
        "changes.",
        "options.name": "Name",
        "options.value": "Value",
        "options.default": "Default",
        "around.approvals": "{count:waits|wait} for your approval",
        "around.monitor": "mail is only looked for in the next turn:",
        "around.roles": "Roles",
        "around.role": "Role",
        "around.holder": "Held by",
        "around.nobody": "nobody",
        "around.lost": "nobody: its holder is {why}",
    }
)


class _Number(int):
    def __format__(self, words: str) -> str:
        one, has_two, many = words.partition("|")
        return f"{int(self)} {one if self == 1 else many}" if has_two else int.__format__(self, words)


def said(table: "Mapping[str, str]", name: str, values: "Mapping[str, Any]") -> str:
    """Return a text of a table with its values filled in, and its words in the form that goes with their numbers.

    Raises:
        KeyError: There is no text of that name, or a value is missing.
    """
    words = table[name]
    return words.format(**{one: _Number(it) if type(it) is int else it for one, it in values.items()})
