"""Where Restante keeps what belongs to no worktree."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


def data_directory(environment: Mapping[str, str]) -> str:
    """Return the directory of the database: ``RESTANTE_DATA``, else the platform's place for a program's data.

    Raises:
        UsageError: No home directory is known, or it is the root directory.
    """
    if explicit := environment.get("RESTANTE_DATA"):
        return os.path.abspath(explicit)
    home = environment.get("HOME", "")
    if not os.path.isabs(home) or not os.path.normpath(home).strip("/"):
        raise UsageError(
            f"no home directory: HOME is {home!r}" if home else "no home directory: HOME is not set",
            remedy="set HOME, or RESTANTE_DATA to a directory of its own",
        )
    platform: str = sys.platform
    if platform in ("linux", "darwin"):
        # What platformdirs says, without loading what it takes to know every platform: hooks ask this.
        base = environment.get("XDG_DATA_HOME", "")
        if not os.path.isabs(base):
            below = ("Library", "Application Support") if platform == "darwin" else (".local", "share")
            base = os.path.join(home, *below)
        return os.path.join(base, "restante")
    from platformdirs import user_data_path

    return str(user_data_path("restante", appauthor=False))
