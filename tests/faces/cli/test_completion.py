"""The completion scripts, run by the shell they are for."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from restante.faces.cli.table import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


@pytest.mark.parametrize(("shell", "program"), [("bash", "bash"), ("zsh", "zsh"), ("zsh", "bash"), ("fish", "fish")])
def test_a_script_is_one_that_the_shell_takes(
    restante: Callable[..., Answer], tmp_path: Path, shell: str, program: str
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    script = tmp_path / "script"
    script.write_text(restante("completion", shell).out)
    checked = subprocess.run([program, "-n", str(script)], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["restante", "se"], {"send", "session", "serve"}),
        (["restante", "session", "re"], {"rename"}),
        (["restante", "session", "turn", "e"], {"ended"}),
        (["restante", "session", "blocked", "--se"], {"--session"}),
        (["restante", "persist", "o"], {"on", "off"}),
        (["restante", "re"], {"repeats", "reply", "receipts", "read"}),
        (["restante", "-C", "somewhere", "--json", "sen"], {"send"}),
        (["restante", "-C", "somewhere", "repeats", "pause", "--j"], {"--json"}),
        (["restante", "help", "rep"], {"repeats", "reply"}),
        (["restante", "send", "restante", "--fi"], {"--file"}),
        (["restante", "repeats", "pa"], {"pause"}),
        (["restante", "repeats", "show", "--j"], {"--json"}),
        (["restante", "send", "-p", ""], {"low", "normal", "high"}),
        (["restante", "send", "text", "--scope", "cur"], {"current_task"}),
        (["restante", "ack", "--decision", "a"], {"accepted"}),
        (["restante", "ack", "--act"], {"--action"}),
        (["restante", "install", "--d"], {"--dry-run"}),
        (["restante", "completion", "f"], {"fish"}),
    ],
)
def test_bash_offers_what_fits(restante: Callable[..., Answer], words: list[str], offered: set[str]) -> None:
    script = restante("completion", "bash").out
    asking = 'COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _restante; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{asking}", "bash", *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_holds_every_command_and_option(restante: Callable[..., Answer], shell: str) -> None:
    script = restante("completion", shell).out
    for command in COMMANDS:
        assert all(word in script for word in command.name.split())
        for flag in (flag for one in command.arguments for flag in one.flags):
            assert (flag if shell != "fish" else flag.lstrip("-")) in script


def test_an_unknown_shell_is_refused_and_the_known_ones_are_named(restante: Callable[..., Answer]) -> None:
    answer = restante("completion", "csh")
    assert answer.code == 2
    assert "bash, zsh, fish" in answer.err
