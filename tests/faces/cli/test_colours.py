"""Colours are for a person at a terminal who has not said no to them."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


def _at_a_terminal(worktree: Path, **environment: str) -> str:
    """Return what ``restante status`` prints at a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "restante", "status"],
        cwd=worktree,
        env={"PATH": "/usr/bin:/bin", "TERM": "xterm"} | environment,
        stdout=theirs,
        stderr=subprocess.STDOUT,
    )
    os.close(theirs)
    parts = []
    # The end of the other side is told as an error of input and output on Linux, as an empty read elsewhere.
    try:
        while data := os.read(ours, 4096):
            parts.append(data)
    except OSError:
        pass
    os.close(ours)
    assert process.wait(30) == 0
    return b"".join(parts).decode()


def test_a_terminal_gets_colours_and_a_pipe_gets_none(
    restante: Callable[..., Answer], sent: Callable[..., str], worktree: Path
) -> None:
    sent("text")
    assert "\x1b[33munseen\x1b[0m" in _at_a_terminal(worktree)
    assert "\x1b" not in restante("status").out


@pytest.mark.parametrize("value", ["1", "0"])
def test_no_color_is_respected_whatever_its_value(sent: Callable[..., str], worktree: Path, value: str) -> None:
    sent("text")
    told = _at_a_terminal(worktree, NO_COLOR=value)
    assert "unseen" in told
    assert "\x1b" not in told
