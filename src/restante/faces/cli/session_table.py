"""The commands about sessions and their mail, and about the server that may hold it."""

from restante.faces.cli.command import (
    DIALOGS,
    FILE,
    PRIORITIES,
    SWITCHES,
    TURN_MOMENTS,
    TURN_SOURCES,
    Argument,
    Command,
)
from restante.faces.cli.subscription_table import SIGNAL

_BETWEEN = "between sessions"
_WHOSE = Argument("session", "Which session; your own if none is given.", ("--session",), "ID|NAME")
_MAYBE_WHOSE = (Argument("session", "Which session; your own if none is given.", metavar="ID|NAME"),)
_WHOM = "A session's name, its id, or at least eight characters that only its id begins with."
_ACCOUNT = (Argument("name", "The account.", metavar="NAME", needed=True),)

SESSION_COMMANDS = (
    Command(
        "ls",
        "List the sessions: idle or busy, and what mail waits for them.",
        "A session is idle when its last turn ended; it says when and how that became known. '?' stands for what the "
        "server that was asked cannot tell. Below the list: who waits for whom, and who is idle with unread mail.",
        "sessions:ls",
        (
            Argument("alive", "Leave out those whose process ended.", ("--alive",)),
            Argument("limit", "List at most so many; the others are counted.", ("--limit",), "N", default="50"),
        ),
        audience=_BETWEEN,
    ),
    Command(
        "post",
        "Write to another session, or to a role of a team; its agent reads it at a checkpoint.",
        "To a role as TEAM/ROLE, to all roles of a team but your own as TEAM/* or TEAM/, each with a receipt of its "
        "own. Nobody is interrupted, and nothing is typed anywhere. The text is the arguments, standard input with -, "
        "or a file with --file. The answer says as whom it was sent: what cannot be proven is labelled so.",
        "post:post",
        (
            Argument("to", f"{_WHOM} Or TEAM/ROLE.", metavar="ID|NAME|TEAM/ROLE", needed=True),
            Argument("words", "The text.", metavar="TEXT|-", many=True, is_text=True),
            FILE,
            Argument("subject", "What it is about, in one line of your own.", ("--subject",), "LINE", default=""),
            Argument("priority", "How urgent it is.", ("-p", "--priority"), "WORD", default="normal", words=PRIORITIES),
            Argument(
                "expires",
                "Stop being pending by itself: 90m, 12h, 1d, or an ISO time with a zone. Mail to a session does after "
                "12 h if nothing is said, mail to a role never.",
                ("--expires",),
                "WHEN",
            ),
            Argument(
                "client_id",
                "Your own name for it: posting twice under one name posts once.",
                ("--client-id",),
                "NAME",
                default="",
            ),
            Argument(
                "allow_warnings",
                "Post although screening found something. Never lifts the size limit.",
                ("--allow-warnings",),
            ),
            *SIGNAL,
        ),
        audience=_BETWEEN,
    ),
    Command(
        "receipts",
        "Show what became of what you posted: states and times, no text.",
        "The newest first. An ID may be shortened to at least six characters that only it begins or ends with.",
        "post:receipts",
        (
            Argument("messages", "Show just these.", metavar="ID", many=True),
            Argument("limit", "Show at most so many.", ("--limit",), "N", default="20"),
        ),
        audience=_BETWEEN,
    ),
    Command(
        "session start",
        "Register a session, or attach one again under its id.",
        "Hooks do this by themselves; it is for programs without any. What is left out stays as it was.",
        "sessions:start",
        (
            Argument("session_id", "Its id; an agent's own if none is given.", ("--id",), "ID"),
            Argument("name", "A name to call it by.", ("--name",), "NAME", default=""),
            Argument("vendor", "The agent program.", ("--agent",), "NAME", default=""),
            Argument("parent", "The session that started it.", ("--parent",), "ID", default=""),
        ),
        audience=_BETWEEN,
    ),
    Command(
        "session end",
        "Say that a session's process ended. Its mail stays.",
        "Whoever registers under the same id again finds it.",
        "sessions:end",
        _MAYBE_WHOSE,
        audience=_BETWEEN,
    ),
    Command(
        "session delete",
        "End a session for good; its mail goes with it.",
        "Who wrote to it still learns that it was deleted.",
        "sessions:delete",
        (Argument("session", _WHOM, metavar="ID|NAME", needed=True),),
        audience=_BETWEEN,
    ),
    Command(
        "session show",
        "Show all that is known of a session.",
        "",
        "sessions:show",
        _MAYBE_WHOSE,
        audience=_BETWEEN,
    ),
    Command(
        "session rename",
        "Give a session a name to call it by.",
        "",
        "sessions:rename",
        (Argument("name", "The name.", metavar="NAME", needed=True), _WHOSE),
        audience=_BETWEEN,
    ),
    Command(
        "session todo",
        "Say how many items of a session's own list are open.",
        "",
        "sessions:todo",
        (
            Argument("open_todos", "How many are open.", metavar="OPEN", needed=True),
            Argument("total_todos", "How many there are.", metavar="TOTAL"),
            _WHOSE,
        ),
        audience=_BETWEEN,
    ),
    Command(
        "session blocked",
        "Say that a session waits for an answer to a dialog; none when it was answered.",
        "",
        "sessions:blocked",
        (Argument("dialog", "What it waits for.", metavar="WORD", needed=True, words=DIALOGS), _WHOSE),
        audience=_BETWEEN,
    ),
    Command(
        "session turn",
        "Say that a turn of a session began, or ended.",
        "Hooks do this by themselves; it is for programs without any.",
        "sessions:turn",
        (
            Argument("moment", "What happened.", metavar="WORD", needed=True, words=TURN_MOMENTS),
            Argument("source", "How it became known.", ("--source",), "WORD", default="hook", words=TURN_SOURCES),
            _WHOSE,
        ),
        audience=_BETWEEN,
    ),
    Command(
        "persist",
        "Decide whether mail between sessions is kept on disk.",
        "Off until a person turns it on. Off writes no text of it to disk; a server then holds it in memory. Switching "
        "off deletes what was written, where a server runs after it took it into memory; without one, mail that waits "
        "is deleted only if you agree. The mailbox of a worktree is always kept.",
        "serving:persist",
        (
            Argument("switch", "What to do, status if nothing is said.", metavar="WORD", words=SWITCHES),
            Argument("yes", "Switch off although mail that waits is deleted by it.", ("--yes",)),
        ),
        audience="set-up",
    ),
    Command(
        "serve",
        "Run the server: the HTTP API for sessions, and their mail in memory where it is not kept on disk.",
        "Binds the loopback address unless told otherwise. Needs the extra 'serve'.",
        "serving:serve",
        (
            Argument("host", "The address to bind.", ("--host",), "ADDRESS"),
            Argument("port", "The port to bind; 0 for any.", ("--port",), "N"),
            Argument("systemd", "Print a unit file for systemd and end.", ("--systemd",)),
            Argument("launchd", "Print a property list for launchd and end.", ("--launchd",)),
            Argument("opens", "Open the page for people in your browser once it listens.", ("--open",)),
        ),
        audience="set-up",
        answers_json=False,
    ),
    Command(
        "ui",
        "Open the page for people in your browser: sessions, mailboxes, approvals, and writing.",
        "Where no server runs, it becomes one, and runs until stopped. Needs the extra 'serve'.",
        "paging:ui",
        (
            Argument("wait", "Wait so long for a server, and start none.", ("--wait",), "DURATION"),
            Argument("no_browser", "Print the address instead; it is good once, for a minute.", ("--no-browser",)),
        ),
        audience="set-up",
        answers_json=False,
    ),
    Command(
        "tui",
        "Look and write in the terminal: sessions, mailboxes, writing and approvals, with the keyboard alone.",
        "With a server or without one. For people: an agent's command is refused. Needs the extra 'tui'.",
        "paging:tui",
        audience="set-up",
        answers_json=False,
    ),
    Command(
        "desktop",
        "Open the page for people in a window of its own, with notices, a badge and the system's folder dialog.",
        "There is one window for each data directory: started again, it comes to the front. It shows what it showed "
        "last, or with -C that worktree. Where no server runs it starts one, and ends it when it is closed. For "
        "people: an agent's command is refused. Needs the extra 'desktop'.",
        "paging:desktop",
        audience="set-up",
        answers_json=False,
    ),
    Command(
        "account add",
        "Add an account to the server; from the first one on, every request needs an owner.",
        "The password is one line of standard input, or asked for at the terminal.",
        "accounts:add",
        _ACCOUNT,
        audience="set-up",
    ),
    Command("account list", "List the accounts.", "", "accounts:list_accounts", audience="set-up"),
    Command(
        "account remove",
        "Delete an account.",
        "Its sessions and their mail stay, shut out until there is such an account again, unless --sessions is given.",
        "accounts:remove",
        (
            *_ACCOUNT,
            Argument(
                "sessions",
                "End its sessions for good, with their mail; also where the account is gone already.",
                ("--sessions",),
            ),
        ),
        audience="set-up",
    ),
    Command(
        "migrate",
        "Copy all sessions and their mail to another database, and compare both.",
        "From SQLite to PostgreSQL or back. Can be run again wherever it was cut short. Nothing is copied while a "
        "server runs on the data directory; the source stays as it is.",
        "migrating:migrate",
        (
            Argument(
                "source", "From: data, database (as configured), a directory or a URL.", metavar="FROM", needed=True
            ),
            Argument("target", "To: the same.", metavar="TO", needed=True),
        ),
        audience="set-up",
    ),
)
