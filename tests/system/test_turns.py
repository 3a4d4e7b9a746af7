"""What hooks leave behind about turns, read without any program having run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from restante.domain.errors import StorageFailed, Unsafe
from restante.domain.registry import Latch, TurnSource
from restante.system.private import open_private
from restante.system.turns import TurnFiles

if TYPE_CHECKING:
    from pathlib import Path


def _append(data: Path, session: str, text: str) -> None:
    with (data / "turns" / session).open("a") as file:
        file.write(text)


def test_s59_a_session_without_signs_has_no_latch_and_one_in_a_turn_has_no_end(tmp_path: Path) -> None:
    turns = TurnFiles(str(tmp_path))
    assert turns.latches(["a"]) == {}
    turns.expect("a")
    assert turns.latches(["a", "b"]) == {}
    _append(tmp_path, "a", "s\n")
    assert turns.latches(["a"]) == {"a": Latch(0, None, None)}


def test_s59_every_end_counts_and_the_last_one_has_its_time(tmp_path: Path) -> None:
    turns = TurnFiles(str(tmp_path))
    turns.expect("a")
    _append(tmp_path, "a", "s\ne\ns\ne\n")
    os.utime(tmp_path / "turns" / "a", ns=(0, 1_700_000_000_123_456_789))
    latch = turns.latches(["a"])["a"]
    assert (latch.turn, latch.source) == (2, TurnSource.HOOK)
    assert latch.ended is not None
    assert latch.ended.isoformat() == "2023-11-14T22:13:20.123000+00:00"
    _append(tmp_path, "a", "s\n")
    assert turns.latches(["a"])["a"] == Latch(2, None, None)


@given(st.lists(st.text("se\n", max_size=6), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_looking_in_between_changes_no_count(tmp_path: Path, parts: list[str]) -> None:
    watched = TurnFiles(str(tmp_path))
    watched.expect("a")
    (tmp_path / "turns" / "a").write_text("")
    for part in parts:
        _append(tmp_path, "a", part)
        watched.latches(["a"])
    assert watched.latches(["a"]) == TurnFiles(str(tmp_path)).latches(["a"])
    text = "".join(parts)
    if text:
        assert watched.latches(["a"])["a"].turn == text.count("e")


def test_registering_again_keeps_what_was_counted_and_forgetting_takes_it_away(tmp_path: Path) -> None:
    turns = TurnFiles(str(tmp_path))
    turns.expect("a")
    turns.sign("a", has_ended=False)
    turns.sign("a", has_ended=True)
    turns.expect("a")
    assert turns.latches(["a"])["a"].turn == 1
    turns.block("a", "permission")
    turns.forget("a")
    turns.forget("a")
    assert turns.latches(["a"]) == {}
    assert os.listdir(tmp_path / "turns") == []
    turns.expect("a")
    turns.sign("a", has_ended=True)
    assert turns.latches(["a"])["a"].turn == 1


def test_no_sign_makes_a_file_of_its_own(tmp_path: Path) -> None:
    turns = TurnFiles(str(tmp_path))
    turns.enable()
    turns.sign("a", has_ended=True)
    turns.block("a", "permission")
    turns.unblock("a")
    assert os.listdir(tmp_path / "turns") == []


@pytest.mark.parametrize("session", ["", "..", "a/b", "é", "x" * 65, "a.blocked", "-\n"])
def test_an_id_that_is_no_plain_name_leaves_no_file_and_is_no_error(tmp_path: Path, session: str) -> None:
    turns = TurnFiles(str(tmp_path))
    turns.expect(session)
    turns.sign(session, has_ended=True)
    turns.block(session, "permission")
    turns.forget(session)
    assert turns.latches([session]) == {}
    assert turns.blocked([session]) == {}
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []


def test_s60_a_dialog_is_told_until_a_turn_goes_on(tmp_path: Path) -> None:
    turns = TurnFiles(str(tmp_path))
    turns.expect("a")
    assert turns.blocked(["a"]) == {}
    turns.block("a", "permission")
    assert turns.blocked(["a", "b"]) == {"a": "permission"}
    turns.block("a", "question")
    assert turns.blocked(["a"]) == {"a": "question"}
    turns.sign("a", has_ended=False)
    assert turns.blocked(["a"]) == {"a": ""}


def test_everything_is_the_users_own(tmp_path: Path) -> None:
    data = tmp_path / "not" / "there"
    turns = TurnFiles(str(data))
    assert not turns.is_in_use
    turns.expect("a")
    assert TurnFiles(str(data)).is_in_use
    assert (data / "turns").stat().st_mode & 0o777 == 0o700
    assert data.stat().st_mode & 0o777 == 0o700
    assert (data / "turns" / "a").stat().st_mode & 0o777 == 0o600


def test_a_link_or_fifo_in_the_place_of_a_sign_is_never_followed(tmp_path: Path) -> None:
    turns = TurnFiles(str(tmp_path))
    turns.enable()
    (tmp_path / "other").write_text("mine")
    (tmp_path / "turns" / "a").symlink_to(tmp_path / "other")
    os.mkfifo(tmp_path / "turns" / "b")
    for session in ("a", "b"):
        with pytest.raises(StorageFailed):
            turns.expect(session)
        turns.sign(session, has_ended=True)
    assert turns.latches(["a", "b"]) == {}
    assert (tmp_path / "other").read_text() == "mine"


def test_a_link_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "turns").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unsafe):
        TurnFiles(str(tmp_path)).expect("a")


def test_what_a_person_switched_off_stays_off_whoever_registers(tmp_path: Path) -> None:
    turns = TurnFiles(str(tmp_path))
    turns.expect("a")
    turns.disable()
    turns.disable()
    assert turns.is_refused
    turns.expect("a")
    assert os.listdir(tmp_path) == ["no-sessions"]
    turns.enable()
    turns.expect("a")
    assert os.listdir(tmp_path / "turns") == ["a"]
    assert os.listdir(tmp_path) == ["turns"]


def test_only_files_that_something_was_added_to_are_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = TurnFiles(str(tmp_path))
    ids = [f"session-{number}" for number in range(20)]
    for one in ids:
        turns.expect(one)
        turns.sign(one, has_ended=True)
    before = turns.latches(ids)
    opened: list[str] = []

    def counting(path: str, flags: int) -> int:
        opened.append(path)
        return open_private(path, flags)

    monkeypatch.setattr("restante.system.turns.open_private", counting)
    assert turns.latches(ids) == before
    assert turns.blocked(ids) == {}
    assert opened == []
    with (tmp_path / "turns" / ids[7]).open("ab") as file:
        file.write(b"s\ne\n")
    assert turns.latches(ids)[ids[7]].turn == 2
    assert opened == [str(tmp_path / "turns" / ids[7])]
