"""What can be set, in one table: name, type, default, help, environment name.

Values come from the environment first, then from a TOML file (``RESTANTE_CONFIG``, else
``$XDG_CONFIG_HOME/restante/config.toml``, else ``~/.config/restante/config.toml``), then from the table.
All faults of a configuration are reported at once.
"""

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from restante.domain.errors import BadConfig

if TYPE_CHECKING:
    from collections.abc import Mapping


class Option(NamedTuple):
    """One thing that can be set.

    Attributes:
        name: ``section.name``, as in the file.
        kind: ``int``, ``float``, ``bool`` or ``str``.
        default: The value when nothing is set.
        least: Smallest value allowed; numbers only.
        most: Largest value allowed; numbers only.
        help: What it does, with its unit.
    """

    name: str
    kind: type[int | float | bool | str]
    default: int | float | bool | str
    help: str
    least: float = 0
    most: float = 1e12

    @property
    def environment(self) -> str:
        """Name of the environment variable that sets it."""
        return "RESTANTE_" + self.name.replace(".", "_").upper()


OPTIONS = (
    Option(
        "checkpoint.show_again",
        float,
        600.0,
        "seconds until a message that stays unacknowledged is shown to the same session again",
        least=1,
    ),
    Option("checkpoint.max_bytes", int, 2048, "most UTF-8 bytes that one checkpoint shows", least=1024),
    Option("limits.message_bytes", int, 16_384, "largest message, in UTF-8 bytes", least=1),
    Option("inbox.max_bytes", int, 16_384, "most UTF-8 bytes that one call of inbox prints for an agent", least=1024),
    Option("inbox.wait", float, 90.0, "seconds that inbox --wait waits when no number is given", least=0),
    Option(
        "screening.library",
        bool,
        False,
        "also screen with the secret-detection library of the extra 'scan'; adds about 0.7 s of CPU to a send",
    ),
    Option(
        "database.url",
        str,
        "",
        "postgresql://... keeps sessions and their mail there; empty for SQLite files in the data directory",
    ),
    Option("sessions.messages", int, 200, "most pending messages of one session's mailbox", least=1),
    Option("sessions.bytes", int, 1_048_576, "most UTF-8 bytes of pending mail in one session's mailbox", least=1),
    Option("sessions.share", float, 0.5, "part of a session's mailbox that the mail of one sender may take", most=1),
    Option(
        "sessions.ttl", float, 43_200.0, "seconds until mail to a session expires, from when it was posted", least=1
    ),
    Option("server.url", str, "", "http://... of a server to ask; empty for the one on this machine, or none"),
    Option("server.host", str, "127.0.0.1", "address that restante serve binds"),
    Option("server.port", int, 8377, "port that restante serve binds; 0 for any", most=65_535),
    Option("server.hosts", str, "", "further Host names that the server answers to, by comma"),
    Option("server.waits_per_session", int, 4, "most reads of one session's mail that wait at once", least=1),
    Option("server.waits_per_owner", int, 512, "most calls of one owner that wait at once", least=1),
    Option("server.waits", int, 2048, "most calls that wait at once", least=1),
    Option("server.rate", float, 1000.0, "most requests a second of one caller, in the long run", least=1),
    Option("server.grace", float, 5.0, "seconds that a session counts as waiting between two waits"),
    Option(
        "wake.command",
        str,
        "",
        """a command of yours that the way 'command' runs to wake, as a JSON list of words: ["/path/to/it", "word"]""",
    ),
    Option("wake.opencode", str, "", "http://127.0.0.1:... of the server of opencode, by which it is woken"),
)


class Settings(NamedTuple):
    """The values in force; see ``OPTIONS`` for what each means."""

    show_again: float = 600.0
    checkpoint_max_bytes: int = 2048
    message_bytes: int = 16_384
    inbox_max_bytes: int = 16_384
    inbox_wait: float = 90.0
    screening_library: bool = False
    database_url: str = ""
    session_messages: int = 200
    session_bytes: int = 1_048_576
    session_share: float = 0.5
    session_ttl: float = 43_200.0
    server_url: str = ""
    server_host: str = "127.0.0.1"
    server_port: int = 8377
    server_hosts: str = ""
    server_waits_per_session: int = 4
    server_waits_per_owner: int = 512
    server_waits: int = 2048
    server_rate: float = 1000.0
    server_grace: float = 5.0
    wake_command: str = ""
    wake_opencode: str = ""


# These may hold a password.
_HIDDEN = frozenset({"database.url", "server.url"})
_FIELDS = {
    "checkpoint.show_again": "show_again",
    "checkpoint.max_bytes": "checkpoint_max_bytes",
    "limits.message_bytes": "message_bytes",
    "inbox.max_bytes": "inbox_max_bytes",
    "inbox.wait": "inbox_wait",
    "screening.library": "screening_library",
    "database.url": "database_url",
    "sessions.messages": "session_messages",
    "sessions.bytes": "session_bytes",
    "sessions.share": "session_share",
    "sessions.ttl": "session_ttl",
    "server.url": "server_url",
    "server.host": "server_host",
    "server.port": "server_port",
    "server.hosts": "server_hosts",
    "server.waits_per_session": "server_waits_per_session",
    "server.waits_per_owner": "server_waits_per_owner",
    "server.waits": "server_waits",
    "server.rate": "server_rate",
    "server.grace": "server_grace",
    "wake.command": "wake_command",
    "wake.opencode": "wake_opencode",
}


def value_of(settings: Settings, option: Option) -> int | float | bool | str:
    """Return what is in force for an option."""
    value: int | float | bool | str = getattr(settings, _FIELDS[option.name])
    return value


def load_settings(environment: "Mapping[str, str]") -> Settings:
    """Read the configuration.

    Raises:
        BadConfig: An option is unknown, a value does not fit, or the file that ``RESTANTE_CONFIG`` names cannot be
            read; every fault is named with where it stands.
    """
    path = config_path(environment)
    table = {option.name: option for option in OPTIONS}
    problems: list[str] = []
    values: dict[str, Any] = {}
    is_named = bool(environment.get("RESTANTE_CONFIG"))
    for name, value in _read_file(path, problems, must_be_there=is_named).items():
        if name not in table:
            problems.append(f"{path}: unknown option {name}")
        elif (fitting := _fit(table[name], value)) is None:
            problems.append(f"{path}: {name} = {value!r} is not {_wanted(table[name])}")
        else:
            values[_FIELDS[name]] = fitting
    for option in OPTIONS:
        text = environment.get(option.environment)
        if text is not None:
            if (fitting := _fit(option, _from_text(option, text))) is None:
                problems.append(f"{option.environment}={text!r} is not {_wanted(option)}")
            else:
                values[_FIELDS[option.name]] = fitting
    if problems:
        raise BadConfig(tuple(problems))
    return Settings(**values)


def shown_value(settings: Settings, option: Option) -> str:
    """Return a value as a person may see it: of what could be used to get in, only whether it is set."""
    value = value_of(settings, option)
    return ("set" if value else "") if option.name in _HIDDEN else str(value)


def config_path(environment: "Mapping[str, str]") -> str:
    """Return where the configuration file would be; empty when no home directory is known."""
    if explicit := environment.get("RESTANTE_CONFIG"):
        return explicit
    base = environment.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        home = environment.get("HOME", "")
        base = os.path.join(home, ".config") if os.path.isabs(home) else ""
    return os.path.join(base, "restante", "config.toml") if base else ""


def _read_file(path: str, problems: list[str], *, must_be_there: bool) -> dict[str, object]:
    """Return ``section.name`` -> value; a missing or unreadable default file is no configuration."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        if must_be_there:
            reason = error.strerror if isinstance(error, OSError) else error
            problems.append(f"RESTANTE_CONFIG={path!r} cannot be read: {reason}")
        return {}
    import tomllib

    try:
        document = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"{path}: not TOML: {error}")
        return {}
    flat: dict[str, object] = {}
    for section, content in document.items():
        if isinstance(content, dict):
            flat.update({f"{section}.{name}": value for name, value in content.items()})
        else:
            flat[section] = content
    return flat


def _from_text(option: Option, text: str) -> object:
    if option.kind is str:
        return text
    if option.kind is bool:
        return {
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }.get(text.lower())
    try:
        return int(text) if option.kind is int else float(text)
    except ValueError:
        return None


def _fit(option: Option, value: object) -> int | float | bool | str | None:
    if option.kind is bool or option.kind is str:
        return value if isinstance(value, option.kind) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if option.kind is int and not isinstance(value, int):
        return None
    # Not a number and infinity compare as not within bounds, in this order of operands.
    return option.kind(value) if option.least <= value <= option.most and value < 1e12 else None


def _wanted(option: Option) -> str:
    if option.kind in (bool, str):
        return "true or false" if option.kind is bool else "a text"
    number = "a whole number" if option.kind is int else "a number"
    upper = f" and at most {option.most:g}" if option.most < 1e12 else ""
    return f"{number} of at least {option.least:g}{upper}"
