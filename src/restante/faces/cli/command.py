"""What a command and its arguments are; the words they choose from."""

from typing import NamedTuple


class Argument(NamedTuple):
    """One thing that a command takes.

    Attributes:
        name: What the command's function calls it.
        help: What it is, in a sentence.
        flags: ``-p``, ``--priority`` and so on; none for a positional.
        metavar: What stands for its value in help; an option without one takes no value.
        many: A positional that may be given any number of times, also none.
        needed: Whether it must be given; of an option the command itself says so.
        default: The value when it is not given.
        bare: The value of an option that is given without one; ``None`` when it must have one.
        words: The values to choose from, for completion; the command itself checks them.
        is_text: A positional whose value may begin with a dash, as list items do.
    """

    name: str
    help: str
    flags: tuple[str, ...] = ()
    metavar: str = ""
    many: bool = False
    needed: bool = False
    default: str | None = None
    bare: str | None = None
    words: tuple[str, ...] = ()
    is_text: bool = False


class Command(NamedTuple):
    """One command.

    Attributes:
        name: As it is typed, for example ``repeats list``.
        summary: What it does, in one line.
        details: What else there is to know.
        place: ``module:function`` below ``restante.faces.cli``; imported when the command runs.
        arguments: What it takes, besides ``-C`` and ``--json``.
        audience: Who uses it; one of ``AUDIENCES``.
        answers_json: Whether it takes ``--json``.
        misuse: The exit code of a line that does not fit it.
    """

    name: str
    summary: str
    details: str
    place: str
    arguments: tuple[Argument, ...] = ()
    audience: str = "for you"
    answers_json: bool = True
    misuse: int = 2

    @property
    def all_arguments(self) -> tuple[Argument, ...]:
        """What it takes, with what every command does."""
        return (*self.arguments, *(one for one in COMMON if self.answers_json or one.name != "as_json"))


AUDIENCES = ("for you", "for the agent", "between sessions", "monitors", "verified intake", "set-up")
# Commands that share a first word, and what they are about.
GROUPS = {
    "repeats": "Messages that are posted again and again:",
    "session": "Sessions of programs without hooks, and what to call one:",
    "monitor": "Have an idle session woken when mail comes:",
    "account": "Several people on one server:",
}
PRIORITIES = ("low", "normal", "high")
SCOPES = ("current_task", "workspace", "thread", "question")
DECISIONS = ("accepted", "rejected", "deferred", "needs_confirmation")
ACTIONS = ("applied", "blocked", "pending", "not_applicable")
SHELLS = ("bash", "zsh", "fish")
SWITCHES = ("on", "off", "status")
TOOLS = ("tools", "hooks")
TURN_MOMENTS = ("began", "ended")
TURN_SOURCES = ("hook", "heuristic", "exit")
MODES = ("off", "turn", "monitor")
DIALOGS = ("permission", "question", "none")

COMMON = (
    Argument("directory", "Work in the worktree of this directory.", ("-C",), "DIR", default="."),
    Argument("as_json", "Answer as JSON (docs/reference/json.md).", ("--json",)),
)
FILE = Argument("file", "Take the text from a file, byte for byte.", ("--file",), "FILE")
