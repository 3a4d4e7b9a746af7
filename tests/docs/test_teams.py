"""docs/howto/teams.md tells the truth: every command in it is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docs.test_readme import Visitor

if TYPE_CHECKING:
    import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "howto" / "teams.md").read_text(encoding="utf-8")
PLANNER = {"CODEX_THREAD_ID": "play-planner"}


def _lines() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    visitor = Visitor(tmp_path)
    request.addfinalizer(visitor.leave)
    said: dict[str, list[str]] = {}
    for line in _lines():
        said.setdefault(line.partition("#")[0].strip(), []).append(visitor.type(line))
        if "--subject lexer" in line:
            visitor.learn("TASK", visitor.ask("receipts", **PLANNER)["receipts"][0]["messageId"])
    assert len(said) >= 18
    first, again = said["restante post 'parser/*' --client-id freeze-1 \"No new features until Friday.\""]
    assert first.count("\nsent msg_") + first.startswith("sent msg_") == 2
    assert again.count("already sent msg_") == 2
    assert "acknowledged (accepted, applied)" in said['CODEX_THREAD_ID=play-planner restante receipts "$TASK"'][0]
    assert "No new features" in said["CODEX_THREAD_ID=play-other restante inbox"][0]
    held = {role["role"]: role["session"] for role in visitor.ask("team")["roles"]}
    assert held == {"parser/reviewer": "play-other"}
