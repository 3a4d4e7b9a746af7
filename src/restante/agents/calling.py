"""How our command is typed. Asked at every checkpoint that shows mail, so: only os."""

import os
from typing import TYPE_CHECKING

from restante.agents.hookline import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+@%:,=-")


def command_name(bin_dir: str, env: "Mapping[str, str]") -> str:
    """Return how our command is typed: by its name where that finds this installation, else by its path."""
    if finds_ours(bin_dir, env):
        return "restante"
    ours = os.path.join(bin_dir, "restante")
    return ours if _PLAIN.issuperset(ours) else quote(ours)


def finds_ours(bin_dir: str, env: "Mapping[str, str]") -> bool:
    """Tell whether the bare name finds this installation."""
    found = _on_path("restante", env.get("PATH", ""))
    return bool(found) and os.path.realpath(found) == os.path.realpath(os.path.join(bin_dir, "restante"))


def _on_path(name: str, path: str) -> str:
    """Return the file that a shell would run for a name; empty when there is none."""
    for directory in path.split(os.pathsep):
        file = os.path.join(directory, name)
        if directory and os.path.isfile(file) and os.access(file, os.X_OK):
            return file
    return ""
