"""The commands about being woken once, and what they answer with ``--json``."""

from restante.faces.cli.command import Argument, Command
from restante.faces.cli.shapes import FLAG, TEXT, TIME, list_of, or_null, record

_MONITORS = "monitors"

SIGNAL = (
    Argument("action", "To a role: about which action this says something. With the next two.", ("--action",), "ID"),
    Argument("correlation", "Which run of it: a commit, a run's id.", ("--correlation",), "KEY"),
    Argument("state", "What became of it; ends who waits for that.", ("--state",), "STATE"),
)
_SUBSCRIPTION = record(
    id=TEXT,
    to=TEXT,
    action=TEXT,
    correlation=TEXT,
    until=list_of(TEXT),
    session=or_null(TEXT),
    report_only=FLAG,
    report_expiry=FLAG,
    created_at=TIME,
    expires_at=TIME,
)
SUBSCRIPTION_SCHEMAS = {
    "subscribe": record(subscription=_SUBSCRIPTION),
    "subscriptions": record(subscriptions=list_of(_SUBSCRIPTION)),
    "unsubscribe": record(removed=or_null(TEXT)),
}
SUBSCRIPTION_COMMANDS = (
    Command(
        "subscribe",
        "Be woken once: by the first message to a role that says what became of an action.",
        "A session subscribes for itself, to a role that it holds; you for whoever holds the role then. The first "
        "message that names the action, the run and one of the states makes one wake, and the subscription is gone. "
        "Others wake nobody. Nothing is watched or asked for meanwhile. Whoever posts says it with restante post "
        "TEAM/ROLE --action ID --correlation KEY --state STATE.",
        "subscriptions:subscribe",
        (
            Argument("to", "The role.", ("--to",), "TEAM/ROLE", needed=True),
            Argument("action", "Which action.", ("--action",), "ID", needed=True),
            Argument("correlation", "Which run of it.", ("--correlation",), "KEY", needed=True),
            Argument("until", "The states that end the waiting, by comma.", ("--until",), "STATE,...", needed=True),
            Argument(
                "expires",
                "When it is over: 2h, 1d, or an ISO time with a zone.",
                ("--expires",),
                "WHEN",
                needed=True,
            ),
            Argument("report_only", "Whoever is woken only reports: marks and answers nothing.", ("--report-only",)),
            Argument(
                "report_expiry",
                "Leave a note in the role's mailbox, once, when it is over and nothing came.",
                ("--report-expiry",),
            ),
        ),
        audience=_MONITORS,
    ),
    Command(
        "subscriptions",
        "List the subscriptions that nothing ended yet.",
        "",
        "subscriptions:list_subscriptions",
        audience=_MONITORS,
    ),
    Command(
        "unsubscribe",
        "Wait for it no longer.",
        "Doing so again changes nothing.",
        "subscriptions:unsubscribe",
        (Argument("subscription", "Which, or a part of its id.", metavar="ID", needed=True),),
        audience=_MONITORS,
    ),
)
