"""The ``restante`` command, called in every way a command is called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ISOLATED = ["-I", "-c", "from restante.__main__ import main; main()"]


def called(bin_dir: Path) -> list[str]:
    return (bin_dir / "words").read_text().split("\0")[:-1]


def launch(words: list[str], cwd: Path, **env: str) -> None:
    done = subprocess.run(
        words, cwd=cwd, env={"PATH": "/usr/bin:/bin", **env}, input=b"", capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"answer", b"")


def test_it_starts_the_interpreter_beside_it_isolated_with_every_word_as_it_was(bin_dir: Path, tmp_path: Path) -> None:
    words = ["send", "- a bullet", "", "two  spaces", "it's $HOME `x` \\", "new\nline", "*"]
    launch([str(bin_dir / "restante"), *words], tmp_path)
    assert called(bin_dir) == [*ISOLATED, *words]


def test_it_is_found_on_path(bin_dir: Path, tmp_path: Path) -> None:
    launch(["sh", "-c", "restante inbox"], tmp_path, PATH=f"{bin_dir}:/usr/bin:/bin")
    assert called(bin_dir) == [*ISOLATED, "inbox"]


def test_it_is_called_by_a_relative_path(bin_dir: Path) -> None:
    launch(["./restante", "inbox"], bin_dir)
    launch(["bin/restante", "inbox"], bin_dir.parent)
    assert called(bin_dir) == [*ISOLATED, "inbox"]


def test_a_shell_may_be_given_it_by_name(bin_dir: Path) -> None:
    launch(["sh", "restante", "inbox"], bin_dir)
    assert called(bin_dir) == [*ISOLATED, "inbox"]


@pytest.mark.parametrize("relative", [False, True])
def test_symlinks_are_followed_to_the_installation(bin_dir: Path, tmp_path: Path, relative: bool) -> None:
    place = tmp_path / "local bin"
    place.mkdir()
    target = bin_dir / "restante"
    (place / "first").symlink_to(os.path.relpath(target, place) if relative else target)
    (place / "restante").symlink_to("first" if relative else place / "first")
    launch([str(place / "restante"), "inbox"], tmp_path)
    launch(["sh", "-c", "restante inbox"], tmp_path, PATH=f"{place}:/usr/bin:/bin")
    launch(["./restante", "inbox"], place)
    assert called(bin_dir) == [*ISOLATED, "inbox"]


def test_a_linked_directory_is_fine_too(bin_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(bin_dir)
    launch([str(tmp_path / "linked" / "restante"), "inbox"], tmp_path)
    assert called(bin_dir) == [*ISOLATED, "inbox"]


def test_without_an_interpreter_beside_it_the_one_on_path_is_started_safely(bin_dir: Path, tmp_path: Path) -> None:
    (bin_dir / "python").unlink()
    found = tmp_path / "path"
    found.mkdir()
    (found / "python3").write_text(f'#!/bin/sh\nprintf "%s\\0" "$@" > \'{bin_dir}/words\'\nprintf answer\n')
    (found / "python3").chmod(0o755)
    launch([str(bin_dir / "restante"), "inbox"], tmp_path, PATH=f"{found}:/usr/bin:/bin")
    assert called(bin_dir) == ["-E", "-P", *ISOLATED[1:], "inbox"]


@pytest.mark.parametrize("beside", [True, False])
def test_nothing_of_the_working_directory_is_imported(bin_dir: Path, tmp_path: Path, beside: bool) -> None:
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for name in ("json", "restante", "sitecustomize", "os", "argparse"):
        (hostile / f"{name}.py").write_text(f"open({str(hostile / 'PWNED')!r}, 'w').close()\n")
    (bin_dir / "python").unlink()
    started = tmp_path / "path" / "python3"
    started.parent.mkdir()
    place = bin_dir / "python" if beside else started
    place.write_text(f"#!/bin/sh\n: > '{tmp_path}/started'\nexec '{sys.executable}' \"$@\"\n")
    place.chmod(0o755)
    env = {"PATH": f"{started.parent}:/usr/bin:/bin", "PYTHONPATH": str(hostile), "PYTHONHOME": "/nonexistent"}
    subprocess.run([bin_dir / "restante", "--version"], cwd=hostile, env=env, capture_output=True, timeout=60)
    assert (tmp_path / "started").exists()
    assert not (hostile / "PWNED").exists()


def test_the_scripts_are_valid_sh() -> None:
    for name in ("restante", "restante-hook"):
        text = (Path(__file__).parents[3] / "scripts" / name).read_text()
        assert subprocess.run(["sh", "-n"], input=text, text=True, check=False).returncode == 0
