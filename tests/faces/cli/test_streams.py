"""Streams that are full or closed: one clear line, a stable exit code, and what was done stays done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

RESTANTE = os.path.join(os.path.dirname(sys.executable), "restante")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty repository."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return tmp_path / "repo"


def _shell(repo: Path, command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(repo.parent), "R": RESTANTE}
    return subprocess.run(
        ["sh", "-c", command], cwd=repo, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def _count(repo: Path) -> int:
    return len(json.loads(_shell(repo, '"$R" snapshot').stdout)["messages"])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_output_is_told_in_one_line_and_says_that_the_work_may_be_done(repo: Path) -> None:
    result = _shell(repo, '"$R" send text >/dev/full')
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "may be done" in result.stderr
    assert _count(repo) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_agents_inbox_that_could_not_be_written_is_not_seen(repo: Path) -> None:
    _shell(repo, '"$R" send text')
    result = _shell(repo, 'CODEX_THREAD_ID=t "$R" inbox >/dev/full')
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert json.loads(_shell(repo, '"$R" snapshot').stdout)["messages"][0]["status"] == "unseen"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_closed_streams_do_not_fail_a_command(repo: Path, closed: str) -> None:
    result = _shell(repo, f'"$R" send text {closed}')
    assert result.returncode == 0, result.stderr
    assert _count(repo) == 1


def test_a_reader_that_goes_away_ends_the_command_without_noise(repo: Path) -> None:
    for _ in range(3):
        _shell(repo, '"$R" send --file /etc/services --allow-warnings || "$R" send "$(seq 2000)"')
    result = _shell(repo, '{ "$R" inbox; echo "$?" >&2; } | head -c 1')
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
def test_no_text_ends_a_line_of_json_for_any_reader_of_lines(repo: Path, end: str) -> None:
    forged = f'before{end}{{"error": null}}'
    (repo / "text").write_text(forged, encoding="utf-8")
    assert _shell(repo, '"$R" send --file text').returncode == 0
    told = _shell(repo, '"$R" snapshot --json').stdout
    assert len(told.splitlines()) == 1
    assert json.loads(told)["messages"][0]["body"] == forged
    (repo / "name").write_text(forged, encoding="utf-8")
    (line,) = _shell(repo, '"$R" status --json "$(cat name)"').stderr.splitlines()
    assert json.loads(line)["error"]["code"] == "no_such_message"


def test_every_command_writes_json_by_the_one_function_that_escapes_line_ends() -> None:
    import restante.faces.cli as package

    for directory in package.__path__:
        for name in sorted(os.listdir(directory)):
            if name.endswith(".py") and name != "output.py":
                with open(os.path.join(directory, name), encoding="utf-8") as file:
                    assert "json.dumps" not in file.read(), name
