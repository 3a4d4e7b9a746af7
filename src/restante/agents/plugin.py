"""The file of ours that a program loads, where it has no hooks in its settings."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from restante.agents.hookline import check_place
from restante.programs import PROGRAMS

if TYPE_CHECKING:
    from restante.agents.ground import Ground

_HEAD = b"// restante: mail for this session,"


def plugin_file(root: str, agent: str) -> str:
    """Return where a program's plugin stands in a worktree; empty for a program that has none."""
    plugin = PROGRAMS[agent].plugin
    return os.path.join(root, *plugin.file.split("/")) if plugin else ""


def plugin_text(bin_dir: str, agent: str) -> bytes:
    """Return what the plugin holds, for an installation.

    Raises:
        BadText: The directory's name is not UTF-8 and cannot stand in the file.
    """
    plugin = PROGRAMS[agent].plugin
    assert plugin is not None
    check_place(bin_dir)
    return plugin.text.replace("@BIN@", json.dumps(bin_dir, ensure_ascii=False)).encode()


def is_ours(data: bytes | None) -> bool:
    """Tell whether a file is a plugin of ours, of whatever version or installation."""
    return data is not None and data.startswith(_HEAD)


def has_plugin(ground: Ground, agent: str) -> bool:
    """Tell whether a program's plugin of ours is in the worktree; raises as ``Ground.read``."""
    path = plugin_file(ground.root, agent)
    return bool(path) and is_ours(ground.read(path))
