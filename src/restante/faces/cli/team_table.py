"""The commands about teams and their roles."""

from restante.faces.cli.command import Argument, Command

_BETWEEN = "between sessions"
_ROLE = Argument("role", "The role.", metavar="TEAM/ROLE", needed=True)

TEAM_COMMANDS = (
    Command(
        "join",
        "Make a role a member of its team; run by a session, take it too.",
        "Mail to a role waits until whoever holds the role answers it. Both happen or nothing: a role that another "
        "session holds is refused (exit code 4).",
        "teams:join",
        (_ROLE,),
        audience=_BETWEEN,
    ),
    Command(
        "leave",
        "Take a role out of its team; its mail stays.",
        "Its holder does, or you.",
        "teams:leave",
        (_ROLE,),
        audience=_BETWEEN,
    ),
    Command(
        "team",
        "List roles: who holds each, since when, and what mail waits.",
        "Of one team, or of all.",
        "teams:team",
        (Argument("team", "The team.", metavar="TEAM"),),
        audience=_BETWEEN,
    ),
    Command(
        "act-as",
        "Take a role that is free (for the agent).",
        "A role is held by one session at a time. It is free when nobody holds it, or its holder is proven dead, "
        "ended, or was not heard of for 12 h. Its mail is in the session's inbox from then on.",
        "teams:act_as",
        (_ROLE,),
        audience=_BETWEEN,
    ),
    Command(
        "drop",
        "Let go of a role; its mail waits for whoever takes it next.",
        "A session lets go of its own; you take it from whichever session holds it.",
        "teams:drop",
        (_ROLE,),
        audience=_BETWEEN,
    ),
    Command(
        "history",
        "Show what was posted to a role, or to a whole team, and what became of it.",
        "A look: nothing is marked. You see everything; a session sees the mail of its own roles and what it posted.",
        "teams:history",
        (
            Argument("what", "The role, or the team.", metavar="TEAM/ROLE|TEAM", needed=True),
            Argument("limit", "Show at most so many, the newest.", ("--limit",), "N", default="20"),
        ),
        audience=_BETWEEN,
    ),
)
