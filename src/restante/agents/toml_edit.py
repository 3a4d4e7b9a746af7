"""String values in somebody's TOML configuration: set, with every other byte kept.

The text is changed by adding or replacing lines; what comes out is parsed and must be what went in
plus the entries, else nothing is done. So nothing here has to understand all of TOML.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from typing import Any

from restante.domain.errors import Unreadable

_HEADER = re.compile(r"[ \t]*\[")


def add_entries(data: bytes | None, entries: list[tuple[tuple[str, ...], str, str]], path: str) -> bytes:
    """Return the file with string values set.

    Args:
        data: The file; ``None`` when there is none.
        entries: For each: the table's name, part by part; the key; the value.
        path: The file's name, for errors.

    Raises:
        Unreadable: The file is not TOML, or is laid out in a way that cannot be added to.
    """
    raw = data or b""
    try:
        text = raw.decode()
        expected = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path}: not TOML: {error}", remedy="correct the file; nothing was changed") from None
    for table, key, value in entries:
        expected = copy.deepcopy(expected)
        target: Any = expected
        for part in table:
            target = target.setdefault(part, {}) if isinstance(target, dict) else None
        if not isinstance(target, dict):
            raise _by_hand(path, table, key, value)
        if target.get(key) == value:
            continue
        target[key] = value
        text = _set(text, table, key, value, expected, path)
    return text.encode()


def _set(text: str, table: tuple[str, ...], key: str, value: str, expected: dict[str, Any], path: str) -> str:
    for candidate in (*_changed(text, table, key, value), _appended(text, table, key, value)):
        try:
            if tomllib.loads(candidate) == expected:
                return candidate
        except (ValueError, RecursionError):
            continue
    raise _by_hand(path, table, key, value)


def _by_hand(path: str, table: tuple[str, ...], key: str, value: str) -> Unreadable:
    header, line = _lines(table, key, value)
    return Unreadable(
        f"{path}: its layout leaves no place for {header}", remedy=f"add it by hand: {header} with {line}"
    )


def _lines(table: tuple[str, ...], key: str, value: str) -> tuple[str, str]:
    return "[" + ".".join(_name(part) for part in table) + "]", f"{key} = {_quoted(value)}"


def _name(part: str) -> str:
    return part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else _quoted(part)


def _quoted(text: str) -> str:
    # A JSON string is a TOML basic string, except that TOML wants DEL escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _appended(text: str, table: tuple[str, ...], key: str, value: str) -> str:
    eol = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    header, line = _lines(table, key, value)
    gap = "" if not text else eol if text.endswith("\n") else eol + eol
    return f"{text}{gap}{header}{eol}{line}{eol}"


def _changed(text: str, table: tuple[str, ...], key: str, value: str) -> list[str]:
    """Return the texts in which the key was set in a table that has a header; several where that is not plain."""
    lines = re.split(r"(?<=\n)", text)
    found = []
    for index, line in enumerate(lines):
        if not _HEADER.match(line) or _path_of(line) != table:
            continue
        eol = "\r\n" if line.endswith("\r\n") else "\n"
        setting = f"{key} = {_quoted(value)}"
        own = re.compile(rf"[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*=[ \t]*(\"(?:[^\"\\]|\\.)*\"|'[^']*')")
        for place in range(index + 1, len(lines)):
            if _HEADER.match(lines[place]):
                break
            if match := own.match(lines[place]):
                after = lines[place][: match.start(1)] + _quoted(value) + lines[place][match.end(1) :]
                found.append("".join([*lines[:place], after, *lines[place + 1 :]]))
        head = line if line.endswith("\n") else line + eol
        found.append("".join([*lines[:index], head, setting, eol, *lines[index + 1 :]]))
    return found


def _path_of(line: str) -> tuple[str, ...]:
    try:
        value: Any = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ()
    path = []
    while isinstance(value, dict) and len(value) == 1:
        (name,) = value
        path.append(name)
        value = value[name]
    return tuple(path) if value == {} else ()
