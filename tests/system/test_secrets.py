"""What proves a caller: made once, kept private, never changed by being asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Damaged, StorageFailed, Unsafe
from restante.system.secrets import digest, person_token, session_secret

if TYPE_CHECKING:
    from pathlib import Path


def test_a_secret_is_made_once_and_then_read(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    first = session_secret(data, "a")
    assert len(first) == 64
    assert int(first, 16)
    assert session_secret(data, "a") == first
    assert session_secret(data, "b") != first
    assert person_token(data) not in (first, session_secret(data, "b"))
    assert person_token(data) == person_token(data)


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    old = os.umask(0)
    try:
        session_secret(str(data), "a")
        person_token(str(data))
    finally:
        os.umask(old)
    assert {path.name: path.stat().st_mode & 0o777 for path in data.rglob("*")} == {
        "sessions": 0o700,
        "a": 0o600,
        "person": 0o600,
    }
    assert data.stat().st_mode & 0o777 == 0o700


def test_the_digest_is_sha256_and_says_nothing_of_the_secret() -> None:
    assert digest("abc") == sha256(b"abc").hexdigest()
    assert digest("\ud800") != digest("")


@pytest.mark.parametrize("session", ["", "..", "a/b", "é", "x" * 65, "\ud800", "nul\0"])
def test_any_id_has_a_file_in_the_directory_of_secrets(tmp_path: Path, session: str) -> None:
    assert session_secret(str(tmp_path), session) == session_secret(str(tmp_path), session)
    (made,) = (tmp_path / "sessions").iterdir()
    assert len(made.name) == 32


def test_eight_processes_that_need_a_secret_at_once_get_the_same(tmp_path: Path) -> None:
    code = "import sys; from restante.system.secrets import session_secret; print(session_secret(sys.argv[1], 'a'))"
    running = [
        subprocess.Popen([sys.executable, "-I", "-c", code, str(tmp_path)], stdout=subprocess.PIPE) for _ in range(8)
    ]
    assert len({one.communicate(timeout=60)[0] for one in running}) == 1
    assert [path.name for path in (tmp_path / "sessions").iterdir()] == ["a"]


def test_a_link_is_refused_and_what_it_leads_to_is_left(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir(0o700)
    (tmp_path / "other").write_text("0" * 64)
    (tmp_path / "sessions" / "a").symlink_to(tmp_path / "other")
    (tmp_path / "sessions" / "b").symlink_to(tmp_path / "nowhere")
    for session in ("a", "b"):
        with pytest.raises(Unsafe):
            session_secret(str(tmp_path), session)
    assert not (tmp_path / "nowhere").exists()


def test_a_secret_that_others_may_read_is_refused(tmp_path: Path) -> None:
    session_secret(str(tmp_path), "a")
    (tmp_path / "sessions" / "a").chmod(0o644)
    with pytest.raises(Unsafe):
        session_secret(str(tmp_path), "a")


@pytest.mark.parametrize("content", ["", "x", "0" * 63, "Z" * 64, "0" * 65])
def test_what_is_no_secret_is_named_and_left(tmp_path: Path, content: str) -> None:
    session_secret(str(tmp_path), "a")
    (tmp_path / "sessions" / "a").write_text(content)
    with pytest.raises(Damaged, match="sessions/a"):
        session_secret(str(tmp_path), "a")
    assert (tmp_path / "sessions" / "a").read_text() == content


def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed):
        session_secret(str(tmp_path / "file" / "below"), "a")
