"""Defects of the original (section 11 of its specification) that show in a whole command: that ours has none."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.inboxes import Inboxes

TO = ("--project", "demo", "--agent", "codex")


@pytest.mark.parametrize("is_quoted", [True, False], ids=["quoted", "unquoted"])
def test_11_3_6_what_the_validator_takes_the_gate_takes(inboxes: Inboxes, is_quoted: bool) -> None:
    """A time without quotes is text to one of the original's readers and a time to the other."""
    inboxes.policy()
    path = inboxes.agents / "codex" / "inbox" / inboxes.task()
    if not is_quoted:
        plain = re.sub(r'(?m)^created_at_utc: "(.*)"$', r"created_at_utc: \1", path.read_text())
        assert plain != path.read_text()
        path.write_text(plain)
    assert inboxes.oacp("validate", str(path))
    assert inboxes.run("read", path.name, "--verified", *TO, "--json").code == 0
    (gate,) = inboxes.drain().of("gate")
    assert gate["facts"]["decision"] == "auto_accepted"


@pytest.mark.parametrize("to", [",", "", " , ", "codex,,"])
def test_11_4_1_a_list_of_nobody_is_an_error_and_no_crash(
    inboxes: Inboxes, to: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OACP_HOME", str(inboxes.home))
    about = ("--type", "question", "--subject", "s", "--body", "b")
    is_sent = inboxes.oacp("send", "demo", "--from", "alice", "--to", to, *about)
    assert is_sent == ("codex" in to)
    assert "Traceback" not in capsys.readouterr().err
    assert len(inboxes.names()) == is_sent


def test_11_4_1_a_reader_that_went_away_is_no_crash(inboxes: Inboxes) -> None:
    for _ in range(20):
        inboxes.send(subject="x" * 150)
    read, write = os.pipe()
    os.close(read)
    environment = {"OACP_HOME": str(inboxes.home), "PATH": os.environ["PATH"]}
    words = ("oacp", "inbox", "demo", "--agent", "codex", "--json")
    with os.fdopen(write, "wb") as out:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "restante", *words],
            stdout=out,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            timeout=60,
        )
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    assert len(inboxes.names()) == 20
