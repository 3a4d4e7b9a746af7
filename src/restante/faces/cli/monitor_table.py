"""The commands about monitors: who is woken when mail comes."""

from restante.faces.cli.command import MODES, Argument, Command

_MONITORS = "monitors"
_MAILBOX = Argument("mailbox", "Which: TEAM/ROLE, session:ID or worktree:PATH.", metavar="MAILBOX", needed=True)
_OWNER = Argument(
    "token", "The owner that arming told; whoever was replaced since changes nothing.", ("--owner",), "TOKEN"
)
_NOW = Argument("now", "Take this for the time: seconds since 1970, or an ISO time with a zone.", ("--now",), "TIME")
_MARK = Argument("mark", "The max_id that a check told.", metavar="MAX_ID", needed=True)
_SESSION = Argument("session", "Which session is woken; your own if none is given.", ("--session",), "ID")
_CODES = (
    "Exit codes of these commands: 0 done, or wake; 1 could not look; 2 nothing to do now; 3 not armed, or over; "
    "4 refused; 64 usage; 70 damaged; 75 busy."
)
# What a scheduled task or a watchdog takes for its own mistake; 2 tells it that there is nothing to do.
_MISUSE = 64

_COMMANDS = (
    Command(
        "monitor arm",
        "Have a session woken when mail comes to a mailbox.",
        "Nothing is watched for whoever did not ask. A role is taken by it if nobody holds it. Arming again begins its "
        f"time anew and keeps what was woken for. {_CODES}",
        "monitors:arm",
        (
            _MAILBOX,
            _SESSION,
            Argument(
                "adapter",
                "How to wake it; the usual way of its agent program if none is given.",
                ("--adapter",),
                "NAME",
            ),
            Argument("scheduled", "A scheduled task of the agent program looks; nothing listens.", ("--scheduled",)),
            Argument("token", "Your own name for this arming, to be shown by its checks.", ("--owner",), "TOKEN"),
            Argument(
                "lasts",
                "How long without a sign of life: 12 h if nothing is said, with --scheduled 24 h without new mail.",
                ("--ttl",),
                "DURATION",
            ),
            _NOW,
        ),
        audience=_MONITORS,
    ),
    Command(
        "monitor check",
        "Tell whether the session has to be woken now, by numbers alone.",
        "Reads no mail and marks nothing. Says wake once for a mark; again only after a while, while it is unseen, and "
        f"three times in all. {_CODES}",
        "monitors:check",
        (_MAILBOX, _OWNER, Argument("force", "Also before the next check is due.", ("--force",)), _NOW),
        audience=_MONITORS,
    ),
    Command(
        "monitor claim",
        "The same for a watchdog, which leaves it to a healthy receiver.",
        "",
        "monitors:claim",
        (
            _MAILBOX,
            _OWNER,
            Argument(
                "fallback_after",
                "Say healthy where the receiver was heard of more recently.",
                ("--fallback-after",),
                "DURATION",
            ),
            Argument("retry_after", "After how long a wake is made again.", ("--retry-after",), "DURATION"),
            _NOW,
        ),
        audience=_MONITORS,
    ),
    Command(
        "monitor heartbeat",
        "Say that the session lives; a monitor in error wakes again.",
        "",
        "monitors:heartbeat",
        (_MAILBOX, _OWNER, _NOW),
        audience=_MONITORS,
    ),
    Command(
        "monitor delivered",
        "Say that the mail of a wake was collected.",
        "Only of a mark that a check told. Reading the inbox says it by itself.",
        "monitors:delivered",
        (_MAILBOX, _MARK, _OWNER, _NOW),
        audience=_MONITORS,
    ),
    Command(
        "monitor failed",
        "Say that a wake failed; after three in a row none is made until the session is heard of.",
        "",
        "monitors:failed",
        (
            _MAILBOX,
            _MARK,
            Argument("reason", "Why, without a word of mail.", ("--reason",), "TEXT", default=""),
            _OWNER,
            _NOW,
        ),
        audience=_MONITORS,
    ),
    Command(
        "monitor scheduled",
        "Say at which interval the scheduled task runs from now on.",
        "",
        "monitors:scheduled",
        (_MAILBOX, Argument("interval", "120, 900 or 3600.", metavar="SECONDS", needed=True), _OWNER, _NOW),
        audience=_MONITORS,
    ),
    Command(
        "monitor automation",
        "Note ids of the agent program's own tasks; they are told once, when they have to be removed.",
        "",
        "monitors:automation",
        (_MAILBOX, Argument("automations", "The ids.", metavar="ID", many=True, needed=True), _OWNER, _NOW),
        audience=_MONITORS,
    ),
    Command(
        "monitor status",
        "Show how monitors stand: numbers, marks, the receiver, and what really happens when mail comes.",
        "Of one mailbox, or of all. mode=turn means that the session is not woken, and says why.",
        "monitors:status",
        (Argument("mailbox", "Which; all if none is given.", metavar="MAILBOX"), _NOW),
        audience=_MONITORS,
    ),
    Command(
        "monitor stop",
        "Have nobody woken any more for a mailbox.",
        "Stopping again changes nothing. Tells once which tasks of the agent program have to be removed.",
        "monitors:stop",
        (
            Argument("mailbox", "Which.", metavar="MAILBOX"),
            Argument("worktree", "Instead: all of this worktree and its sessions.", ("--worktree",)),
            _OWNER,
        ),
        audience=_MONITORS,
    ),
    Command(
        "monitor prepare",
        "Arm a mailbox for a scheduled task, unless it is, and print what the task has to do.",
        "For agent programs that offer nothing but scheduled tasks.",
        "monitors:prepare",
        (_MAILBOX, _SESSION, _NOW),
        audience=_MONITORS,
    ),
    Command(
        "monitor prompt",
        "Print what the scheduled task of an armed mailbox has to do.",
        "",
        "monitors:prompt",
        (_MAILBOX,),
        audience=_MONITORS,
    ),
    Command(
        "monitor run",
        "Listen for all armed mailboxes and wake their sessions, until stopped.",
        "Says what it listens for and whom it woke, never a word of mail. Any number may run at once: a session is "
        "woken once for what is new. While restante serve runs it does the same, and nothing else is needed beside it.",
        "hosting:run",
        audience=_MONITORS,
    ),
    Command(
        "monitor mode",
        "Wake a session for a mailbox (monitor), or only tell it in its turns (turn), or not even that (off).",
        "turn and off end what monitor began, and leave everything else as it was before; what is told in turns is a "
        "matter of restante install and uninstall.",
        "monitors:mode",
        (
            Argument("mode", "What happens when mail comes.", metavar="MODE", needed=True, words=MODES),
            _MAILBOX,
            _SESSION,
            _NOW,
        ),
        audience=_MONITORS,
    ),
)
MONITOR_COMMANDS = tuple(one._replace(misuse=_MISUSE) for one in _COMMANDS)
