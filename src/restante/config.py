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
        kind: ``int``, ``float`` or ``bool``.
        default: The value when nothing is set.
        least: Smallest value allowed; numbers only.
        help: What it does, with its unit.
    """

    name: str
    kind: type[int | float | bool]
    default: int | float | bool
    help: str
    least: float = 0

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
)


class Settings(NamedTuple):
    """The values in force; see ``OPTIONS`` for what each means."""

    show_again: float = 600.0
    checkpoint_max_bytes: int = 2048
    message_bytes: int = 16_384
    inbox_max_bytes: int = 16_384
    inbox_wait: float = 90.0
    screening_library: bool = False


_FIELDS = {
    "checkpoint.show_again": "show_again",
    "checkpoint.max_bytes": "checkpoint_max_bytes",
    "limits.message_bytes": "message_bytes",
    "inbox.max_bytes": "inbox_max_bytes",
    "inbox.wait": "inbox_wait",
    "screening.library": "screening_library",
}


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


def _fit(option: Option, value: object) -> int | float | bool | None:
    if option.kind is bool:
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if option.kind is int and not isinstance(value, int):
        return None
    # Not a number and infinity compare as not within bounds, in this order of operands.
    return option.kind(value) if option.least <= value < 1e12 else None


def _wanted(option: Option) -> str:
    if option.kind is bool:
        return "true or false"
    number = "a whole number" if option.kind is int else "a number"
    return f"{number} of at least {option.least:g}"
