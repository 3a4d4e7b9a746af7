"""Bells of monitored mailboxes: heard at once where one is armed, and nothing at all where none is."""

from __future__ import annotations

import os
import stat
import threading
import time
from typing import TYPE_CHECKING

import pytest

from restante.system.doorbells import FileDoorbells
from restante.system.ears import write_fifo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROLE = "team/alice"
SESSION = "5f0c1f5e-93a7-4f0e-9d51-3f2c5d3e0a11"


@pytest.fixture
def bells(tmp_path: Path) -> Iterator[FileDoorbells]:
    made = FileDoorbells(str(tmp_path / "data"))
    yield made
    made.leave()


def names(tmp_path: Path) -> list[str]:
    return sorted(os.listdir(tmp_path / "data" / "bells"))


def bell_of(tmp_path: Path) -> Path:
    (name,) = [one for one in names(tmp_path) if len(one) == 32]
    return tmp_path / "data" / "bells" / name


def reader(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def read(fd: int) -> bytes:
    try:
        return os.read(fd, 100)
    except BlockingIOError:
        return b""


def test_g1_ringing_where_nothing_is_armed_leaves_nothing(bells: FileDoorbells, tmp_path: Path) -> None:
    bells.ring(ROLE)
    bells.forget(ROLE)
    assert bells.rung([ROLE]) == []
    assert not (tmp_path / "data").exists()
    bells.expect("team/bob")
    bells.ring(ROLE)
    assert len(names(tmp_path)) == 1


def test_an_armed_mailbox_has_a_private_bell_that_names_it_and_goes_with_it(
    bells: FileDoorbells, tmp_path: Path
) -> None:
    bells.expect(ROLE)
    bells.expect(ROLE)
    bell = bell_of(tmp_path)
    assert bell.read_text() == "team/alice\n\n"
    assert stat.S_IMODE(bell.stat().st_mode) == 0o600
    assert stat.S_IMODE(bell.parent.stat().st_mode) == 0o700
    bells.forget(ROLE)
    bells.forget(ROLE)
    assert names(tmp_path) == []


def test_g3_only_the_mailbox_that_was_rung_is_told(bells: FileDoorbells) -> None:
    many = [f"team/{number}" for number in range(10)]
    for one in many:
        bells.expect(one)
    assert bells.rung(many) == many
    assert bells.rung(many) == []
    bells.ring("team/7")
    assert bells.rung(many) == ["team/7"]
    assert bells.rung(many) == []


def test_a_link_in_the_place_of_a_bell_is_not_followed(bells: FileDoorbells, tmp_path: Path) -> None:
    bells.expect(ROLE)
    bell, other = bell_of(tmp_path), tmp_path / "other"
    other.write_text("mine")
    os.utime(other, (1, 1))
    bell.unlink()
    bell.symlink_to(other)
    bells.ring(ROLE)
    bells.expect(ROLE)
    assert (other.read_text(), other.stat().st_mtime) == ("mine", 1)
    os.mkfifo(tmp_path / "pipe")
    (bell.parent / (bell.name + ".fifo")).symlink_to(tmp_path / "pipe")
    fd = reader(tmp_path / "pipe")
    bells.ring(ROLE)
    assert read(fd) == b""
    os.close(fd)


def test_a_waiter_is_rung_directly_and_a_full_or_unread_pipe_holds_nobody_up(
    bells: FileDoorbells, tmp_path: Path
) -> None:
    bells.expect(ROLE, SESSION)
    bells.ring(ROLE)  # nobody reads
    fifo = tmp_path / "data" / "bells" / f"session.{SESSION}.fifo"
    assert stat.S_IMODE(fifo.stat().st_mode) == 0o600
    fd = reader(fifo)
    bells.ring(ROLE)
    assert read(fd) == b"r\n"
    while write_fifo(str(fifo), b"x" * 4096):
        pass
    bells.ring(ROLE)
    os.close(fd)


def test_e2_a_waiter_goes_with_the_last_mailbox_that_it_waits_for(bells: FileDoorbells, tmp_path: Path) -> None:
    bells.expect(ROLE, SESSION)
    bells.expect("team/bob", SESSION)
    place = tmp_path / "data" / "bells"
    fd = reader(place / f"session.{SESSION}.fifo")
    for end in (".pid", ".lock", ".woken"):
        (place / f"session.{SESSION}{end}").write_text("1")
    bells.forget(ROLE)
    bells.ring("team/bob")
    assert read(fd) == b"r\n"
    bells.forget("team/bob")
    assert read(fd) == b"q\n"
    assert names(tmp_path) == []
    os.close(fd)


def test_arming_for_another_session_moves_the_bell_from_one_waiter_to_the_other(
    bells: FileDoorbells, tmp_path: Path
) -> None:
    bells.expect(ROLE, SESSION)
    first = reader(tmp_path / "data" / "bells" / f"session.{SESSION}.fifo")
    bells.expect(ROLE, "other-session")
    assert read(first) == b"q\n"
    second = reader(tmp_path / "data" / "bells" / "session.other-session.fifo")
    bells.ring(ROLE)
    assert (read(first), read(second)) == (b"", b"r\n")
    bells.expect(ROLE)
    assert len(names(tmp_path)) == 1
    os.close(first)
    os.close(second)


@pytest.mark.parametrize("lost", ["bell", "second name", "waiter"])
def test_what_is_lost_of_a_bell_is_missed_and_put_up_again(bells: FileDoorbells, tmp_path: Path, lost: str) -> None:
    assert bells.missing([ROLE]) == [ROLE]
    bells.expect("team/bob")
    bells.expect(ROLE, SESSION)
    assert bells.missing([ROLE, "team/bob"]) == []
    place = tmp_path / "data" / "bells"
    waiter = place / f"session.{SESSION}.fifo"
    (second,) = [one for one in place.glob("*.fifo") if one != waiter]
    gone = {"bell": second.with_suffix(""), "second name": second, "waiter": waiter}[lost]
    gone.unlink()
    assert bells.missing([ROLE, "team/bob"]) == [ROLE]
    bells.expect(ROLE, SESSION)
    assert bells.missing([ROLE]) == []
    listens = reader(waiter)
    bells.ring(ROLE)
    assert read(listens) == b"r\n"
    os.close(listens)
    bells.forget(ROLE)
    assert not waiter.exists()


def test_nothing_raises_where_the_data_directory_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    bells = FileDoorbells(str(tmp_path / "data"))
    bells.expect(ROLE, SESSION)
    bells.ring(ROLE)
    bells.forget(ROLE)
    assert bells.rung([ROLE]) == []


def test_only_a_fifo_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not write_fifo(str(tmp_path / "file"), b"r\n")
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize("poll", [False, True])
def test_a_ring_of_another_process_is_a_tick(tmp_path: Path, poll: bool) -> None:
    bells = FileDoorbells(str(tmp_path), poll=poll)
    bells.expect(ROLE)
    bells.rung([ROLE])
    ticks = bells.ticks(30.0)
    next(ticks)
    heard = threading.Thread(target=lambda: FileDoorbells(str(tmp_path)).ring(ROLE))
    threading.Timer(0.3, heard.start).start()
    for _ in ticks:
        if bells.rung([ROLE]):
            break
    else:
        pytest.fail("the ring was not heard")


def rings_within(ticks: Iterator[None]) -> int:
    return sum(1 for _ in ticks)


@pytest.mark.parametrize("is_armed", [False, True])
def test_nothing_but_the_ends_is_told_while_nothing_rings(tmp_path: Path, is_armed: bool) -> None:
    bells = FileDoorbells(str(tmp_path))
    if is_armed:
        bells.expect(ROLE)
    began = time.monotonic()
    assert rings_within(bells.ticks(1.5)) == 2
    assert time.monotonic() - began >= 1.4


def test_an_arming_is_heard_where_nothing_was_armed_before(tmp_path: Path) -> None:
    bells = FileDoorbells(str(tmp_path))
    ticks = bells.ticks(30.0)
    next(ticks)
    FileDoorbells(str(tmp_path)).expect(ROLE)
    for _ in ticks:
        if bells.rung([ROLE]):
            break
    FileDoorbells(str(tmp_path)).ring(ROLE)
    assert any(bells.rung([ROLE]) for _ in ticks)


def test_where_it_is_looked_that_is_said(tmp_path: Path) -> None:
    for poll in (True, False):
        bells = FileDoorbells(str(tmp_path), poll=poll)
        assert bells.looks is poll
        bells.leave()
