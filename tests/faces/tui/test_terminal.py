"""``restante tui`` in a real terminal (tmux), and who gets it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.tui.conftest import Place

PATIENCE = 60.0
PROGRAM = (sys.executable, "-I", "-c", "from restante.__main__ import main; main()")


class Terminal:
    """A terminal of 80 columns and 24 lines, whose program is nobody's child: a server of its own runs it."""

    def __init__(self, place: Place, directory: Path) -> None:
        self._socket = str(directory / "tmux.socket")
        self.raw = directory / "raw"
        self._environment = {**place.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c", str(place.worktree), "sh")
        self._tmux("pipe-pane", f"cat > {shlex.quote(str(self.raw))}")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", self._socket, *words],
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
        )
        return done.stdout

    @property
    def text(self) -> str:
        return self._tmux("capture-pane", "-p")

    def run(self, command: str) -> None:
        self._tmux("send-keys", "-l", command)
        self._tmux("send-keys", "Enter")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def sees(self, *words: str) -> str:
        end = time.monotonic() + PATIENCE
        while not all(word in (text := self.text) for word in words):
            assert time.monotonic() < end, f"never shown: {words}\n{text}"
            time.sleep(0.05)
        return text

    def end(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def terminal(place: Place, tmp_path: Path) -> Iterator[Terminal]:
    """A terminal."""
    if shutil.which("tmux") is None:
        if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS"):
            pytest.fail("there is no tmux")
        pytest.skip("NOT TESTED: there is no tmux here")
    one = Terminal(place, tmp_path)
    yield one
    one.end()


@pytest.mark.slow
def test_a_person_looks_writes_and_leaves_in_a_real_terminal(place: Place, terminal: Terminal) -> None:
    place.session(1, "builder", turns=1)
    terminal.run(" ".join(map(shlex.quote, (*PROGRAM, "tui"))) + "; echo ended with $?")
    text = terminal.sees("builder", "0/0", "a Approvals")
    assert len(text.splitlines()) <= 24
    place.post("builder", "\x1b]0;evil\x07\x1b[31m[red]look[/red] \x9b2J\x1b]52;c;ZXZpbA==\x07")
    terminal.sees("1/1", "has not read")
    terminal.press("Enter")
    terminal.sees(r"\x1b]0;evil\x07\x1b[31m[red]look[/red] \x9b2J")
    terminal.press("w")
    terminal.sees("Leave it")
    terminal.press("-l", "from the terminal")
    terminal.press("C-s")
    terminal.sees("Left for builder")
    terminal.press("Escape")
    terminal.sees("2 messages, 2 unseen")
    terminal.press("Escape")
    terminal.sees("2/2")
    terminal.press("q")
    terminal.sees("ended with 0")
    raw = terminal.raw.read_bytes()
    for act in (b"\x1b]0;evil", b"\x1b]52;", "\x9b2J".encode(), b"\x9b2J"):
        assert act not in raw
    # The colours are the terminal's own: none is a mixture of ours.
    assert not re.search(rb"\x1b\[[\d;]*[34]8[;:][25]", raw)
    # What it switched on in the terminal it switched off again.
    for mode in (b"1049", b"2004"):
        assert raw.count(b"\x1b[?" + mode + b"h") == raw.count(b"\x1b[?" + mode + b"l")


def _tui(place: Place, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, "tui"],
        cwd=place.worktree,
        env={**place.environment, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("place", ["local"], indirect=True)
def test_an_agent_that_asks_for_the_screen_is_refused(place: Place) -> None:
    done = _tui(place, CODEX_THREAD_ID="0199aaaa-0000-7000-8000-00000000000a")
    assert done.returncode == 4
    assert "the screen is for the person" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("place", ["local"], indirect=True)
def test_a_terminal_shows_no_colours_where_none_are_wanted_and_agents_and_pipes_nothing(
    place: Place, terminal: Terminal
) -> None:
    tui = " ".join(map(shlex.quote, (*PROGRAM, "tui")))
    terminal.run(f"{tui} | cat; echo over")
    terminal.sees("the screen needs a terminal", "restante ls")
    command = f"CODEX_THREAD_ID=thread-1 {shlex.quote(sys.executable)} -I -m restante.faces.tui; echo ended with $?"
    terminal.run(command)
    terminal.sees("the screen is for the person", "ended with 4")
    terminal.run(f"clear; NO_COLOR=1 {tui}; echo left with $?")
    terminal.sees("No session has registered yet", "q Quit")
    terminal.press("s")
    terminal.sees("Settings", "k Keep mail on disk")
    terminal.press("Escape")
    terminal.sees("q Quit")
    terminal.press("q")
    terminal.sees("left with 0")
    # Nothing but weights and reversals is set after it: no colour of any kind.
    shown = terminal.raw.read_bytes().rpartition(b"NO_COLOR=1")[2]
    modes = {int(one) for found in re.findall(rb"\x1b\[([\d;]*)m", shown) for one in found.split(b";") if one}
    assert {one for one in modes if one >= 30} <= {39, 49}
