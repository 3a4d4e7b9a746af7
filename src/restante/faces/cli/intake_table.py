"""The commands about verified mail of an OACP tree; part of ``table``."""

from restante.faces.cli.command import Argument, Command

PROJECT = Argument(
    "project", "The OACP project; the one that is marked here if nothing is said.", ("--project",), "NAME"
)
AGENT = Argument(
    "agent", "Whose inbox; OACP_AGENT, or the program that runs this, if nothing is said.", ("--agent",), "NAME"
)
_AGENTS = AGENT._replace(help="Only this agent; all of the project if nothing is said.")
_ACTOR = Argument("actor", "Who decides: one word that names you everywhere.", ("--actor",), "NAME")
_PAUSED = Argument(
    "message", "The message, or its audit record; a part that only it has is enough.", metavar="ID", needed=True
)
_NOTE = Argument("note", "What is changed, or why.", ("--note",), "TEXT")
_GRANT = (
    Argument(
        "grant", "The grant that it asks for: approved, modified or denied (if nothing is said).", ("--grant",), "WORD"
    ),
    Argument("scope", "A YAML file with what is granted instead.", ("--grant-scope",), "FILE"),
)
_LEGACY = "Not supported: this is one round. Says what to use."

OF_ONE_MESSAGE = (
    Argument("message", "A message of an OACP inbox.", metavar="ID|FILE"),
    Argument("sha256", "SHA-256 of the bytes that were processed.", ("--sha256",), "DIGEST"),
    PROJECT,
    AGENT,
)
INTAKE_COMMANDS = (
    Command(
        "check-inbox",
        "Work off an OACP inbox: verify, gate, ask, do, archive.",
        "One round, and again while new messages come. Each message is read once, verified before it is parsed, and "
        "asked about with everything needed to answer: who, what, the reasons, what each choice does. Nothing is done "
        "that nobody chose; a message is archived only after all that belongs to it was done. With --json each inquiry "
        "is a line, and the answer a line on standard input; without a terminal everything stays.",
        "intake:check_inbox",
        (
            PROJECT,
            AGENT,
            Argument("once", "One round, as always.", ("--once",)),
            Argument(
                "yes_to",
                "Give the recommended answer for these types of news, by comma: notification, follow_up, review_lgtm, "
                "handoff_complete.",
                ("--yes-to",),
                "TYPES",
            ),
            _ACTOR,
            Argument("watch", _LEGACY, ("--watch",)),
            *(
                Argument(name.replace("-", "_"), _LEGACY, (f"--{name}",), "N")
                for name in ("interval", "max-empty-polls", "max-runtime-min")
            ),
        ),
        audience="verified intake",
    ),
    Command(
        "read",
        "Show one message of an OACP inbox, verified before it is parsed.",
        "Exit codes: 0 accepted, 2 not read, 3 held, 4 not as the format says. Of a held message only what its "
        "signature proves is shown, and evidence is kept in dead_letter.",
        "intake:read",
        (
            Argument("message", "The message: its file, or its id.", metavar="FILE|ID", needed=True),
            Argument("verified", "As always.", ("--verified",)),
            PROJECT,
            AGENT,
            Argument(
                "snapshot_out",
                "Keep the very bytes that were read, in a new private file.",
                ("--snapshot-out",),
                "FILE",
            ),
        ),
        audience="verified intake",
    ),
    Command(
        "oacp",
        "The verbs, flags, answers and exit codes of OACP; it comes first: restante oacp VERB ...",
        "restante oacp --help lists the verbs. A link called oacp that leads to restante does the same.",
        "intake:oacp",
        (Argument("words", "A verb and what belongs to it.", metavar="WORD", many=True, is_text=True),),
        audience="verified intake",
    ),
    Command(
        "approvals",
        "List the work that waits for your decision, with the reasons in words.",
        "",
        "approvals:approvals",
        (PROJECT, _AGENTS),
        audience="verified intake",
    ),
    Command(
        "approve",
        "Let paused work start, or go on.",
        "Your decision, and how long it took, stand in the audit record; the agent's next round goes on from there. A "
        "grant for the thread is another decision: it is denied unless you say otherwise.",
        "approvals:approve",
        (_PAUSED, _NOTE, *_GRANT, _ACTOR, PROJECT, _AGENTS),
        audience="verified intake",
    ),
    Command(
        "modify",
        "Let paused work start with a change.",
        "",
        "approvals:modify",
        (_PAUSED, _NOTE, *_GRANT, _ACTOR, PROJECT, _AGENTS),
        audience="verified intake",
    ),
    Command(
        "decline",
        "Decline paused work.",
        "The agent's next round tells the sender and archives the message.",
        "approvals:decline",
        (_PAUSED, _NOTE, _ACTOR, PROJECT, _AGENTS),
        audience="verified intake",
    ),
)
