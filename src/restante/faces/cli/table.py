"""Every command and its options in one table: the parser, the reference and the completions are made from it."""

from restante.faces.cli.command import (
    ACTIONS,
    DECISIONS,
    FILE,
    PRIORITIES,
    SCOPES,
    SHELLS,
    TOOLS,
    Argument,
    Command,
)
from restante.faces.cli.intake_table import INTAKE_COMMANDS, OF_ONE_MESSAGE
from restante.faces.cli.monitor_table import MONITOR_COMMANDS
from restante.faces.cli.session_table import SESSION_COMMANDS
from restante.faces.cli.subscription_table import SUBSCRIPTION_COMMANDS
from restante.faces.cli.team_table import TEAM_COMMANDS
from restante.programs import DEFAULTS, NAMES

_ONE_REPEAT = (Argument("repeat", "The repeat, or a part of its id that only it has.", metavar="ID", needed=True),)
_DRY_RUN = Argument("dry_run", "Show the changes as a diff and make none.", ("--dry-run",))

COMMANDS = (
    Command(
        "send",
        "Leave guidance for the agent of this worktree.",
        "The agent is not interrupted: it gets the text at its next checkpoint. The text is the arguments; standard "
        "input with -, or a file with --file, each taken byte for byte; or, when nothing is given, what you write in "
        "your editor, without the line feed that editors put at the end.",
        "send:send",
        (
            Argument("words", "The text.", metavar="TEXT|-", many=True, is_text=True),
            FILE,
            Argument("priority", "How urgent it is.", ("-p", "--priority"), "WORD", default="normal", words=PRIORITIES),
            Argument("scope", "What it is about.", ("-s", "--scope"), "WORD", default="current_task", words=SCOPES),
            Argument("subject", "What it is about, in one line of your own.", ("--subject",), "LINE", default=""),
            Argument(
                "expires",
                "Stop being pending by itself: 90m, 12h, 1d, or an ISO time with a zone.",
                ("--expires",),
                "WHEN",
            ),
            Argument(
                "repeat",
                "Post it again every so often: 30s, 5m, 2h (at least 5s). Goes with neither --subject nor --expires.",
                ("--repeat", "--repeat-every"),
                "DURATION",
            ),
            Argument(
                "client_id",
                "Your own name for it: sending twice under one name sends once.",
                ("--client-id",),
                "NAME",
                default="",
            ),
            Argument(
                "allow_warnings",
                "Send although screening found something. Never lifts the size limit.",
                ("--allow-warnings",),
            ),
            Argument(
                "to",
                "Post to whoever holds a role instead; TEAM/* for all roles of a team. As restante post.",
                ("--to",),
                "TEAM/ROLE",
            ),
        ),
    ),
    Command(
        "status",
        "Show what became of your messages, or of one.",
        "An ID may be shortened to at least six characters that only it begins or ends with. For a role: how many of "
        "its messages are queued, noticed, seen and acknowledged.",
        "follow:status",
        (Argument("message", "Show everything about this message, or the numbers of a role.", metavar="ID|TEAM/ROLE"),),
    ),
    Command(
        "why",
        "Say why a message was not answered, in one sentence, with the command that helps next.",
        "From what is known at this moment, of a message in whatever mailbox: one that you left in this worktree, "
        "posted to a session or a role, or that waits in an inbox of an OACP tree. Marks nothing. "
        "docs/howto/why.md lists the causes.",
        "why:why",
        (Argument("message", "The message, or a part of its id that only it has.", metavar="ID", needed=True),),
    ),
    Command(
        "watch",
        "Follow the mailbox live, one line for each event.",
        "Begins with what happens from now on. With --json each line is an object that carries the cursor to go on "
        "with, from which a line may be told twice and none is left out; in text the cursor is printed at the end, "
        "on standard error. With --sessions, or with IDs, it tells of sessions instead, each with the reason why it "
        "deserves a look, and ends with the first news; without --since that is how they all stand now.",
        "follow:watch",
        (
            Argument(
                "sessions", "Watch these sessions; or the mailbox of one TEAM/ROLE.", metavar="ID|NAME", many=True
            ),
            Argument("all_sessions", "Watch sessions instead of the worktree's mailbox.", ("--sessions",)),
            Argument("since", "Begin after this cursor; 'start' tells everything there is.", ("--since",), "CURSOR"),
            Argument(
                "timeout",
                "End after so long (seconds, or 5m, 1h), with exit code 5 if nothing came. For sessions about 90 s "
                "if nothing is said.",
                ("--timeout", "--wait"),
                "DURATION",
            ),
            Argument("follow", "With sessions: go on after the first news, until stopped.", ("--follow",)),
        ),
    ),
    Command(
        "withdraw",
        "Take a message back before it was acknowledged.",
        "One that you left in this worktree, or posted to a session.",
        "follow:withdraw",
        (Argument("message", "The message.", metavar="ID", needed=True),),
    ),
    Command("snapshot", "Print the whole mailbox as JSON.", "", "follow:snapshot"),
    Command(
        "repeats list",
        "List the repeated messages.",
        "Set one up with: restante send --repeat 5m TEXT.",
        "repeats:list_repeats",
    ),
    Command("repeats show", "Show a repeated message whole.", "", "repeats:show", _ONE_REPEAT),
    Command("repeats pause", "Stop posting a repeated message until it is resumed.", "", "repeats:pause", _ONE_REPEAT),
    Command("repeats resume", "Go on posting it, next one interval from now.", "", "repeats:resume", _ONE_REPEAT),
    Command("repeats remove", "Forget a repeat; what it posted stays.", "", "repeats:remove", _ONE_REPEAT),
    Command(
        "repeats run",
        "Post what is due.",
        "Any number of runners may run at once: each message is posted once.",
        "repeats:run",
        (Argument("forever", "Go on until stopped.", ("--forever",)),),
    ),
    Command(
        "archive",
        "Move answered messages out of INBOX.md.",
        "Acknowledged, expired and withdrawn messages go into a dated file beside it. With a message and --sha256, "
        "that message of an OACP inbox goes into inbox/archive, if its bytes still are those; else it stays, and "
        "exit code 4 says so.",
        "intake:archive",
        OF_ONE_MESSAGE,
    ),
    Command(
        "threads",
        "List Codex threads and whether mail waits for them (read-only).",
        "Asks Codex's App Server, by a client that can send nothing but questions.",
        "setup:threads",
    ),
    Command(
        "inbox",
        "Show the messages that wait (for the agent: and mark them seen).",
        "The most urgent come first; with IDs, just those are shown. Run by an agent's session, what is shown is "
        "marked as seen. It stays until it is acknowledged with ack. An agent's session gets the mail of its worktree, "
        "what other sessions wrote to it and the mail of the roles that it holds in one list. With TEAM/ROLE just that "
        "role's: a look for you, refused to a session that does not hold it.",
        "agent:inbox",
        (
            Argument("messages", "Show just these, or the mail of one TEAM/ROLE.", metavar="ID", many=True),
            Argument(
                "wait",
                "Wait for unseen mail; about 90 s if no number is given.",
                ("--wait",),
                "SECONDS",
                bare="",
            ),
            Argument("peek", "Mark nothing.", ("--peek",)),
            Argument("session", "Look into the mailbox of a session instead.", ("--session",), "ID|NAME"),
        ),
        audience="for the agent",
    ),
    Command(
        "ack",
        "Say what you decided about messages and what you did (for the agent).",
        "Ends their waiting. All of one mailbox are acknowledged, or none. What another session wrote counts as "
        "accepted if you say nothing else; that session is told decision and action, and words only by reply.",
        "agent:ack",
        (
            Argument("messages", "The messages.", metavar="ID", many=True),
            Argument("through", "This message, and all older ones of its mailbox.", ("--through",), "ID", bare=""),
            Argument("decision", "What you decided.", ("--decision",), "WORD", words=DECISIONS),
            Argument("action", "What became of the work.", ("--action",), "WORD", words=ACTIONS),
            Argument("summary", "What you did or why not, in a sentence.", ("-m", "--message"), "TEXT", default=""),
            Argument("notes", "More of it.", ("--notes",), "TEXT", default=""),
        ),
        audience="for the agent",
    ),
    Command(
        "reply",
        "Answer a message in words (for the agent).",
        "A question, an explanation. Acknowledges nothing. To what a session wrote, it is posted to that session.",
        "agent:reply",
        (
            Argument("message", "The message.", metavar="ID", needed=True),
            Argument("words", "The text.", metavar="TEXT|-", many=True, is_text=True),
            FILE,
        ),
        audience="for the agent",
    ),
    *SESSION_COMMANDS,
    *TEAM_COMMANDS,
    *MONITOR_COMMANDS,
    *SUBSCRIPTION_COMMANDS,
    *INTAKE_COMMANDS,
    Command(
        "install",
        "Teach the agent programs about this worktree's mailbox.",
        "Hooks (for opencode a plugin), a block in AGENTS.md (or CLAUDE.md, GEMINI.md), a skill, ignore rules. "
        "Everything else in those files stays as it is, byte for byte. Installing twice changes nothing.",
        "setup:install",
        (
            Argument(
                "agents",
                f"Which agent programs, by comma, of: {', '.join(NAMES)}.",
                ("--agent",),
                "NAMES",
                default=",".join(DEFAULTS),
            ),
            _DRY_RUN,
            Argument(
                "check",
                "Change nothing; exit code 1 if installing would change something. Goes with --agent only.",
                ("--check",),
            ),
            Argument(
                "trust",
                "Also let Codex trust the hooks, by an entry in your own configuration; asks first.",
                ("--trust",),
            ),
            Argument("yes", "Do not ask.", ("--yes",)),
            Argument(
                "sessions",
                "Session inboxes, by which agents on this machine write to each other: on (unless you said off), or "
                "off.",
                ("--sessions",),
                "on|off",
                words=("on", "off"),
            ),
            Argument(
                "persist",
                "Whether their mail is kept on disk: on, or off (unless you said on).",
                ("--persist",),
                "on|off",
                words=("on", "off"),
            ),
            Argument("skills", "Also the skill check-inbox, by which they work off an OACP inbox.", ("--skills",)),
            Argument(
                "mcp",
                "Also the server of tools (restante mcp); with "
                "hooks, checkpoints call it instead of starting a command.",
                ("--mcp",),
                "tools|hooks",
                words=TOOLS,
                bare="tools",
            ),
        ),
        audience="set-up",
    ),
    Command(
        "uninstall",
        "Take out everything that install put in.",
        "Messages stay.",
        "setup:uninstall",
        (_DRY_RUN,),
        audience="set-up",
    ),
    Command(
        "doctor",
        "Check the mailbox, what is installed, sessions and the server; name what mends it.",
        "Ends with exit code 1 if anything is wrong.",
        "setup:doctor",
        audience="set-up",
    ),
    Command(
        "mcp",
        "Serve six tools to an agent program on standard input and output (MCP).",
        "Programs start it themselves, once restante install --mcp told them of it. Whose mail it is, they prove; "
        "what nothing proves is nobody's.",
        "serving:mcp",
        audience="set-up",
        answers_json=False,
    ),
    Command(
        "completion",
        "Print the completion script for your shell.",
        'For bash: eval "$(restante completion bash)"; likewise for zsh; for fish: restante completion fish | source.',
        "completion:completion",
        (Argument("shell", "bash, zsh or fish.", metavar="SHELL", needed=True, words=SHELLS),),
        audience="set-up",
    ),
)
