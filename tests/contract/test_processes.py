"""Real processes at once, killed at any instant, on full disks and read-only directories: every home must stand it."""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.contract import driver
from tests.contract.driver import body_of, open_home

from restante.domain.lifecycle import Status
from restante.domain.mailbox import ChangeKind
from restante.domain.message import Draft

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# No bytecode (-B): Python itself would leave half a file of it behind on the full disks of these tests.
DRIVER = [sys.executable, "-I", "-B", driver.__file__]
NEW_NAMESPACE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
# A process that says nothing for so long hangs; nothing here takes a tenth of it on an idle machine.
HANGS = 120

Report = dict[str, Any]

homes = pytest.mark.parametrize("home", sorted(driver.HOMES))


def can_mount() -> str:
    """Return why nothing can be mounted here; empty when it can."""
    if not (sys.platform.startswith("linux") and shutil.which("unshare")):
        return "no unshare on this machine"
    tried = subprocess.run([*NEW_NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    return tried.stderr.decode().strip() if tried.returncode else ""


@pytest.fixture
def mounting() -> None:
    if reason := can_mount():
        pytest.skip(f"NOT TESTED: mounting does not work here ({reason})")


def start(home: str, location: Path, *arguments: object) -> subprocess.Popen[bytes]:
    command = [*DRIVER, home, str(location), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def reports_of(output: bytes) -> list[Report]:
    """Read reports; a line that a kill has cut is none."""
    return [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith(b"\n")]


def run(home: str, location: Path, *arguments: object, within: str = "") -> list[Report]:
    """Run the driver to its end, in a mount namespace prepared by a line of shell where one is given."""
    command = [*DRIVER, home, str(location), *map(str, arguments)]
    if within:
        command = [*NEW_NAMESPACE, "sh", "-c", f'L=$1; shift; {within} && exec "$@"', "sh", str(location), *command]
    done = subprocess.run(command, capture_output=True, timeout=HANGS, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return reports_of(done.stdout)


def done(reports: Iterable[Report], *kinds: str) -> list[Report]:
    return [one for one in reports if one["did"] in kinds]


def bodies_of(reports: Iterable[Report]) -> list[str]:
    return [body_of(one["name"], one["number"]) for one in reports]


def check_files(home: str, location: Path) -> None:
    """Check with other means than our own that what is on disk is sound, and that nothing was left behind."""
    left = [name for _, _, names in os.walk(location) for name in names if "tmp" in name.lower()]
    assert left == []
    if home == "sqlite":
        connection = sqlite3.connect(location / "restante.db")
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.close()


def check_reported(home: str, location: Path, reports: list[Report]) -> None:
    """Check that everything that was reported done is there, whole."""
    with open_home(home, str(location)) as mailbox:
        assert mailbox.faults() == []
        replies = {reply.id: (reply.to, reply.body) for reply in mailbox.replies()}
        for one in reports:
            match one["did"]:
                case "post" | "shared":
                    message = mailbox.entry(one["id"]).message
                    assert (message.number, message.body) == (one["place"], body_of(one["name"], one["number"]))
                case "acknowledge":
                    assert [receipt.id for receipt in mailbox.receipts(one["id"])] == [one["receipt"]]
                case "mark":
                    assert all(mailbox.entry(message_id).standing.seen_at for message_id in one["ids"])
                case "withdraw":
                    assert mailbox.entry(one["id"]).standing.status is Status.WITHDRAWN
                case "reply":
                    assert replies[one["id"]] == (one["to"], body_of(one["name"], one["number"]))
                case other:
                    raise AssertionError(f"{other}: {one}")


@homes
@pytest.mark.parametrize(("size", "count"), [(5, 3), pytest.param(16, 20, marks=pytest.mark.slow)])
def test_many_processes_at_once_lose_double_and_fail_nothing(home: str, size: int, count: int, tmp_path: Path) -> None:
    crowd = [start(home, tmp_path, "storm", f"p{number}", count) for number in range(size)]
    for one in crowd:
        assert one.stdout
        assert json.loads(one.stdout.readline()) == {"did": "ready"}
    for one in crowd:
        assert one.stdin
        one.stdin.write(b"go\n")
        one.stdin.flush()
    told: Counter[tuple[str, str]] = Counter()
    cursor = ""
    with open_home(home, str(tmp_path)) as mailbox:
        while any(one.poll() is None for one in crowd):
            answer = mailbox.changes_since(cursor, 7)
            told.update({(change.kind, change.message_id) for change in answer.changes})
            cursor = answer.cursor
        while (answer := mailbox.changes_since(cursor, 100)).changes:
            told.update({(change.kind, change.message_id) for change in answer.changes})
            cursor = answer.cursor
    ends = [(one.communicate(timeout=HANGS), one.returncode) for one in crowd]
    assert [(errors, code) for (_, errors), code in ends] == [(b"", 0)] * size
    reports = [report for (output, _), _ in ends for report in reports_of(output)]
    assert done(reports, "error") == []
    posted, shared = done(reports, "post"), done(reports, "shared")
    assert (len(posted), len(shared)) == (size * count, size * count)
    assert len({one["id"] for one in shared}) == count
    check_reported(home, tmp_path, reports)
    check_files(home, tmp_path)
    with open_home(home, str(tmp_path)) as mailbox:
        entries = mailbox.entries()
        expected = {*bodies_of(posted), *bodies_of(shared)}
        assert Counter(entry.message.body for entry in entries) == Counter(expected)
        assert [entry.message.number for entry in entries] == list(range(1, len(expected) + 1))
        assert Counter(entry.standing.status for entry in entries)[Status.ACCEPTED] == len(posted)
        assert mailbox.counts().total == len(expected)
        assert len(mailbox.replies()) == size * count
        assert {message for kind, message in told if kind == ChangeKind.POSTED} == {one.message.id for one in entries}
        assert {message for kind, message in told if kind == ChangeKind.RECEIPT} == {one["id"] for one in posted}
        assert {message for kind, message in told if kind == ChangeKind.REPLY} == {one["id"] for one in posted}


def age_everything(location: Path) -> None:
    """Make all files two hours old: what killed writers left may be cleared away only when nobody can be at it."""
    for at, _, names in os.walk(location):
        for name in names:
            path = os.path.join(at, name)
            found = os.stat(path)
            os.utime(path, ns=(found.st_atime_ns - 7_200 * 10**9, found.st_mtime_ns - 7_200 * 10**9))


class Nursery:
    """Forks writers, and kills each at some instant."""

    def __init__(self, home: str, location: Path) -> None:
        self.process = start(home, location, "nursery")
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.rest = b""

    def next_report(self) -> Report:
        """Return the next report that is not cut."""
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.stdout], [], [], HANGS)
            assert ready, "the writer hangs: what the one before it left stands in its way"
            read = os.read(self.stdout.fileno(), 1 << 16)
            assert read, self.process.communicate()
            self.rest += read
        line, _, self.rest = self.rest.partition(b"\n")
        begin = line.rfind(b'{"did"')
        found: Report = json.loads(line[begin:])
        return found

    def round(self, name: str, reports_before: int, seconds_more: float) -> list[Report]:
        """Let one writer write, kill it, and return what it had reported."""
        self.stdin.write(name.encode() + b"\n")
        self.stdin.flush()
        child = self.next_report()["pid"]
        reports = [self.next_report() for _ in range(reports_before)]
        # Not a wait for anything: the instant of the kill is what is drawn by lot.
        time.sleep(seconds_more)
        os.kill(child, signal.SIGKILL)
        while (one := self.next_report())["did"] != "gone":
            reports.append(one)
        assert one["status"] == signal.SIGKILL
        return reports

    def close(self) -> None:
        _, errors = self.process.communicate(timeout=HANGS)
        assert (errors, self.process.returncode) == (b"", 0)


@homes
@pytest.mark.parametrize("rounds", [20, pytest.param(220, marks=pytest.mark.slow)])
def test_a_kill_at_any_instant_loses_nothing_and_blocks_nobody(home: str, rounds: int, tmp_path: Path) -> None:
    dice = random.Random()  # the instants differ from run to run: the more runs, the more of them
    nursery = Nursery(home, tmp_path)
    reports: list[Report] = []
    for number in range(rounds):
        new = nursery.round(f"round{number}", dice.randrange(6), dice.random() * 0.015)
        assert done(new, "error") == []
        check_reported(home, tmp_path, new)
        reports += new
    nursery.close()
    check_reported(home, tmp_path, reports)
    before = check_round_posts(home, tmp_path, reports, rounds)
    age_everything(tmp_path)
    # A whole append whose writer was killed before it could say that it was done stays hidden for a while, and then
    # is a message like any other.
    assert set(check_round_posts(home, tmp_path, reports, rounds)) >= set(before)
    with open_home(home, str(tmp_path)) as mailbox:
        entries = mailbox.entries()
        last = driver.post(mailbox, "after all", 0)
        assert last["place"] == len(entries) + 1
        driver.withdraw(mailbox, str(last["id"]))
        assert [entry.message.id for entry in mailbox.entries()] == [*(one.message.id for one in entries), last["id"]]
    check_reported(home, tmp_path, reports)
    check_files(home, tmp_path)


def check_round_posts(home: str, location: Path, reports: list[Report], rounds: int) -> list[str]:
    """Check that there is nothing but what the killed writers posted, each once and in its place; return the ids."""
    with open_home(home, str(location)) as mailbox:
        entries = mailbox.entries()
    assert [entry.message.number for entry in entries] == list(range(1, len(entries) + 1))
    assert len({entry.message.body for entry in entries}) == len(entries)
    reported = {one["id"] for one in done(reports, "post")}
    # Two posts are made before they are reported, so a kill can leave two that nobody heard of.
    assert 0 <= len(entries) - len(reported) <= 2 * rounds
    assert all(entry.message.body.startswith("round") for entry in entries)
    return [entry.message.id for entry in entries]


def biggest_file(location: Path) -> int:
    return max(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(location) for name in names)


def check_refusals(reports: list[Report]) -> None:
    """Check that whatever failed failed as a storage does, and says so."""
    for one in done(reports, "error"):
        assert one["code"] == "storage_failed", one
        assert one["text"]
        assert one["remedy"]


FEW_BYTES = (0, 4096)
MANY_BYTES = (1, 511, 4095, 4097, 8192, 40_000)


@homes
@pytest.mark.parametrize(
    ("limits", "beyond"), [(FEW_BYTES, (0, 40)), pytest.param(MANY_BYTES, (-1, 1, 200, 4096), marks=pytest.mark.slow)]
)
def test_a_disk_that_is_full_at_any_byte_leaves_no_half_mail(
    home: str, limits: tuple[int, ...], beyond: tuple[int, ...], tmp_path: Path
) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    with open_home(home, str(fresh)) as mailbox:
        known, spare, _ = driver.post_early(mailbox)
    size = biggest_file(fresh)
    failures = 0
    for limit in [*limits, *(size + more for more in beyond)]:
        location = tmp_path / f"limit-{limit}"
        shutil.copytree(fresh, location, symlinks=True)
        reports = run(home, location, "limited", limit, "strained", known, spare)
        check_refusals(reports)
        failures += len(done(reports, "error"))
        check_after_strain(home, location, reports)
    assert failures


def check_after_strain(home: str, location: Path, reports: list[Report]) -> None:
    """Check that exactly what was reported was done, and that the mailbox goes on."""
    good = [one for one in reports if one["did"] != "error"]
    check_reported(home, location, good)
    early = bodies_of({"name": "early", "number": number} for number in range(3))
    with open_home(home, str(location)) as mailbox:
        expected = [*early, *bodies_of(done(good, "post"))]
        assert [entry.message.body for entry in mailbox.entries()] == expected
        assert [reply.body for reply in mailbox.replies()] == bodies_of(done(good, "reply"))
        assert mailbox.post(Draft("late")).message.number == len(expected) + 1
        assert mailbox.entries()[-1].message.body == "late"
        assert mailbox.faults() == []
    check_files(home, location)


@homes
@pytest.mark.usefixtures("mounting")
@pytest.mark.parametrize("pages", [0, 1, 2, 3, 5, *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 30))])
def test_a_full_filesystem_leaves_no_half_mail(home: str, pages: int, tmp_path: Path) -> None:
    reports = run(home, tmp_path, "drown", pages, within="mount -t tmpfs -o size=1m none $L")
    check_refusals(reports)
    full, after = done(reports, "look")
    assert done(reports, "error")[0]["tried"] == "post"
    *posted, late = done(reports, "post")
    expected = [body_of("early", number) for number in range(3)] + bodies_of(posted)
    assert (full["bodies"], full["faults"]) == (expected, [])
    assert (after["bodies"], after["faults"]) == ([*expected, body_of(late["name"], late["number"])], [])
    assert after["replies"] == full["replies"] == bodies_of(done(reports, "reply"))


READ_ONLY = "mount --bind $L $L && mount -o remount,bind,ro $L"


@homes
@pytest.mark.usefixtures("mounting")
def test_a_read_only_directory_can_be_read_and_refuses_clearly(home: str, tmp_path: Path) -> None:
    with open_home(home, str(tmp_path)) as mailbox:
        known, spare, _ = driver.post_early(mailbox)
        driver.acknowledge(mailbox, known, "yes")
        driver.reply(mailbox, known, "early", 0)
        expected = [entry.message.body for entry in mailbox.entries()]
    (seen,) = run(home, tmp_path, "look", within=READ_ONLY)
    assert (seen["did"], seen["bodies"], seen["faults"]) == ("look", expected, [])
    assert seen["statuses"] == ["accepted", "unseen", "unseen"]
    assert seen["replies"] == [body_of("early", 0)]
    reports = run(home, tmp_path, "strain", "refused", known, spare, within=READ_ONLY)
    assert [one["did"] for one in reports if one["tried"] != "mark"] == ["error"] * 4
    check_refusals(reports)
    with open_home(home, str(tmp_path)) as mailbox:
        assert [entry.message.body for entry in mailbox.entries()] == expected
        assert len(mailbox.receipts(known)) == 1
        assert mailbox.faults() == []
    check_files(home, tmp_path)


@homes
@pytest.mark.usefixtures("mounting")
def test_an_empty_read_only_directory_is_an_empty_mailbox(home: str, tmp_path: Path) -> None:
    with open_home(home, str(tmp_path)) as mailbox:
        assert mailbox.entries() == []
    (seen,) = run(home, tmp_path, "look", within=READ_ONLY)
    assert (seen["did"], seen["bodies"], seen["faults"]) == ("look", [], [])
    nobody = "msg_20260520T153000_01krzx7zy0zzzzzzzzzzzzzzzz"
    posted, *_ = run(home, tmp_path, "strain", "refused", nobody, nobody, within=READ_ONLY)
    assert (posted["did"], posted["tried"]) == ("error", "post")
    check_refusals([posted])
