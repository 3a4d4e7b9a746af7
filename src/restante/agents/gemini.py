"""Gemini CLI: what keeps it from running a project's hooks (seen with 0.61.0)."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from restante.agents.habits import Habits
from restante.agents.regular import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.agents.gitplaces import GitPlaces


class GeminiHabits(Habits):
    """Those of Gemini CLI."""

    def switched_off_by(self, root: str, env: Mapping[str, str], etc: str) -> str:
        """Return the nearest settings that say ``hooksConfig.enabled: false``; an administrator's stand above all."""
        policy = os.path.join(etc, "gemini-cli", "settings.json")
        if sys.platform == "darwin" and etc == "/etc":
            policy = "/Library/Application Support/GeminiCli/settings.json"
        home = env.get("HOME", "")
        own = [os.path.join(home, ".gemini", "settings.json")] if home else []
        for path in (policy, *self.hook_files(root), *own):
            value = _is_enabled(path)
            if value is not None:
                return "" if value else path
        return ""

    def notes(self, _places: GitPlaces) -> list[str]:
        """See ``Habits``."""
        return ["Gemini CLI runs the hooks of a project only in a folder that you trust, and says so each time"]


def _is_enabled(path: str) -> bool | None:
    try:
        settings = json.loads(read_regular(path).decode("utf-8-sig"))
        value = settings["hooksConfig"]["enabled"]
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return None
    return value if isinstance(value, bool) else None
