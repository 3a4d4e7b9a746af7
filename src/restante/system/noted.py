"""Which session a process of an agent program is in, as a hook noted it: for programs that do not tell their tools.

``<data>/programs/<process id>`` holds one line: the program, when the process started in clock ticks since the boot,
and the session. The time tells a process from a later one of the same number. Where there is no /proc there is no time,
and the number alone has to do.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.system.places import data_directory
from restante.system.private import is_plain, make_private, open_private, translated

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIRECTORY = "programs"
_MOST = 512


def session_noted(program: str, pid: int, environment: Mapping[str, str]) -> str:
    """Return the session that a process is in; empty where no hook of it noted one. Never raises."""
    with suppress(OSError, RestanteError):
        fd = os.open(_path(pid, environment), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            words = os.read(fd, _MOST).decode("ascii", "replace").split()
        finally:
            os.close(fd)
        if len(words) == 3 and words[:2] == [program, _started(pid)]:
            return words[2]
    return ""


def note_session(program: str, pid: int, session: str, environment: Mapping[str, str]) -> None:
    """Note the session that a process is in from now on, and forget what other processes were in that have ended.

    Raises:
        StorageFailed: It cannot be written down.
        UsageError: No data directory is known.
    """
    if not is_plain(session) or session_noted(program, pid, environment) == session:
        return
    path = _path(pid, environment)
    make_private(os.path.dirname(path))
    with translated(path):
        for name in os.listdir(os.path.dirname(path)):
            if name.isdecimal() and _has_ended(int(name)):
                forget_session(int(name), environment)
        fd = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            os.write(fd, f"{program} {_started(pid)} {session}\n".encode())
        finally:
            os.close(fd)


def forget_session(pid: int, environment: Mapping[str, str]) -> None:
    """Forget what a process was in. Never raises."""
    with suppress(OSError, RestanteError):
        os.unlink(_path(pid, environment))


def _path(pid: int, environment: Mapping[str, str]) -> str:
    return os.path.join(data_directory(environment), _DIRECTORY, str(pid))


def _has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def _started(pid: int) -> str:
    """Return field 22 of proc(5)'s stat, ``-`` where there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return "-"
    return text[text.rindex(")") + 2 :].split()[19]
