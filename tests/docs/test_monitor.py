"""docs/howto/monitor.md tells the truth: every command in it is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docs.test_readme import Visitor

if TYPE_CHECKING:
    import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "howto" / "monitor.md").read_text(encoding="utf-8")


def _lines() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    visitor = Visitor(tmp_path)
    request.addfinalizer(visitor.leave)
    said: dict[str, list[str]] = {}
    for line in _lines():
        said.setdefault(line.partition("#")[0].strip(), []).append(visitor.type(line))
    check = "restante monitor check parser/reviewer"
    assert [one.split()[0] for one in said[check]] == ["status=wake", "status=waiting"]
    armed, prepared = (
        said[f"CODEX_THREAD_ID=play-worker restante monitor {word} parser/reviewer"][0] for word in ("arm", "prepare")
    )
    assert armed.startswith("status=active ")
    assert prepared.startswith("status=prepared ")
    assert "mode=turn reason=" in said["restante monitor status parser/reviewer"][0]
    stops = said["CODEX_THREAD_ID=play-worker restante monitor stop parser/reviewer"]
    assert all(one.startswith("status=inactive") for one in stops)
    assert len(said) == 9
