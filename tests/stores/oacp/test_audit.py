"""Audit records: written before a verdict is told, all of a step or nothing, found without reading them all."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.autonomy.fixtures import AUTONOMY, HARMLESS, cases, load, message, needs_fixtures, policy
from tests.autonomy.test_lifecycle_of_records import SCOPE
from tests.trusted import mode_of

from restante.autonomy.evaluate import evaluate
from restante.autonomy.findings import Unread, sweep
from restante.autonomy.grants import KIND
from restante.autonomy.outcome import record_outcome
from restante.autonomy.policy import parse_policy
from restante.autonomy.threads import AUDIT_FILE
from restante.domain.errors import Busy, Damaged, NothingThere, Refused, RestanteError, StorageFailed, Unsafe
from restante.stores.files import flocked, read_at
from restante.stores.oacp import audit as audit_module
from restante.stores.oacp import audit_index, audit_step
from restante.stores.oacp.audit import AuditStore
from restante.stores.oacp.audit_file import facts_of, identity_name, parse_record, quick_facts, render_record, safe_id
from restante.stores.oacp.audit_index import FILE, PENDING
from restante.stores.oacp.directory import Directory
from restante.stores.oacp.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.autonomy.policy import Policy
    from restante.ports.intake import Admission

AT = datetime(2026, 10, 1, 12, tzinfo=UTC)
ACCEPTING = policy()
PAUSING = parse_policy({"autonomy": {"default_mode": "always_pause"}})


class Desk:
    """A folder of records with the gate in front of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "records"
        self.folder.mkdir(exist_ok=True)
        self.book = AuditStore(str(self.folder), (), "codex", project="demo", ledger=Ledger(str(root)))

    def gate(
        self,
        fields: dict[str, Any],
        rules: Policy = ACCEPTING,
        *,
        at: datetime = AT,
        digest: str = "",
        payload: str = "",
        auth: dict[str, object] | None = None,
    ) -> Admission:
        raw = digest or f"{abs(hash(fields['id'])):064x}"

        def judge(history: Any) -> dict[str, object]:
            return evaluate(fields, raw, rules, history, now=at, receiver="codex", load=load).decision

        return self.book.admit(fields, judge, now=at, payload_digest=payload or raw, auth=auth)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.yaml"))

    def findings(self) -> dict[str, object]:
        return {**sweep(self.book.all()).report()}

    def check(self) -> None:
        """Hold the folder to what a sweep finds, and every record to being whole."""
        report = sweep(self.book.all())
        assert not report.has_errors, report.report()
        assert not report.duplicates


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_record_is_there_before_the_verdict_is_told(desk: Desk) -> None:
    done = desk.gate(message())
    assert done.record["decision"] == "auto_accepted"
    (name,) = desk.names()
    assert (done.name, name) == (name, "20261001T120000Z_msg-20260512120000-iris-clean1.yaml")
    assert mode_of(desk.folder / name) == 0o600
    assert parse_record((desk.folder / name).read_bytes()) == done.record
    assert list(parse_record((desk.folder / name).read_bytes())) == list(done.record)
    desk.check()


def test_the_same_evaluation_again_is_the_same_record(desk: Desk) -> None:
    first = desk.gate(message(), PAUSING)
    again = desk.gate(message(), PAUSING, at=AT + timedelta(hours=1))
    assert (again.name, again.is_adopted, again.record) == (first.name, True, first.record)
    assert len(desk.names()) == 1


def test_another_policy_gives_another_record_and_closes_the_earlier_ones(desk: Desk) -> None:
    first = desk.gate(message(), PAUSING)
    second = desk.gate(message(), ACCEPTING, at=AT + timedelta(minutes=1))
    assert second.superseded == (first.name,)
    closed = desk.book.read(first.name)
    assert closed["superseded_by_evaluation_id"] == second.record["evaluation_id"]
    assert second.record["supersedes_evaluation_id"] == first.record["evaluation_id"]
    assert closed["result"]["final_state"] == "superseded"  # type: ignore[index]
    desk.check()


def test_two_evaluations_in_one_second_have_two_names(desk: Desk) -> None:
    first = desk.gate(message(), PAUSING)
    second = desk.gate(message(), ACCEPTING)
    evaluation = str(second.record["evaluation_id"]).removeprefix("eval-")
    assert second.name == first.name.replace(".yaml", f"_{evaluation[:8]}.yaml")
    assert first.record["evaluation_id"] != second.record["evaluation_id"]
    desk.check()
    third = desk.gate(message(id="msg-other"), PAUSING)
    assert not third.superseded
    lean = parse_policy({"autonomy": {"default_mode": "always_pause"}, "more": 1})
    names = {desk.gate(message(id="msg-other"), rules).record["evaluation_id"] for rules in (lean, PAUSING, lean)}
    assert len(names | {third.record["evaluation_id"]}) == 4
    desk.check()


def test_an_accepted_message_is_a_replay_and_writes_nothing(desk: Desk) -> None:
    desk.gate(message())
    again = desk.gate(message(), at=AT + timedelta(days=400))
    assert again.is_replay
    assert (again.name, again.record["reason_codes"]) == ("", ["message_replayed"])
    assert len(desk.names()) == 1


def test_11_3_7_the_memory_of_what_was_accepted_outlives_the_records(desk: Desk) -> None:
    desk.gate(message(), payload="ab" * 32)
    for name in desk.names():
        (desk.folder / name).unlink()
    assert desk.gate(message(), payload="ab" * 32).is_replay
    assert desk.gate(message(id="msg-other"), payload="ab" * 32).is_replay, "the same words under another id"
    assert not desk.gate(message(id="msg-third"), payload="cd" * 32).is_replay


def test_a_record_whose_memory_was_lost_teaches_it_again(desk: Desk) -> None:
    desk.gate(message(), payload="ab" * 32)
    shelf = desk.root / ".restante" / "accepted" / "ab"
    shelf.unlink()
    assert desk.gate(message(), payload="ab" * 32).is_replay
    assert shelf.exists()


def test_of_many_that_evaluate_one_message_at_once_only_one_is_told_to_run(desk: Desk) -> None:
    with ThreadPoolExecutor(12) as pool:
        done = list(pool.map(lambda _: desk.gate(message()), range(12)))
    assert sorted(one.is_replay for one in done) == [False] + [True] * 11
    assert len(desk.names()) == 1
    desk.check()


def test_many_messages_at_once_lose_no_record(desk: Desk) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: desk.gate(message(id=f"msg-{number}")), range(40)))
    assert len(desk.names()) == 40
    assert len(desk.book.history(message(id="msg-7"))) == 1
    desk.check()


def test_a_decision_of_a_person_changes_the_record_in_one_step(desk: Desk) -> None:
    name = desk.gate(message(), PAUSING).name
    assert [one for one, _ in desk.book.waiting()] == [name]
    changed = desk.book.change(
        name, lambda record, _: record_outcome(record, decision="approved", now=AT + timedelta(minutes=2)).record
    )
    assert changed["result"]["human_outcome"]["decision"] == "approved"  # type: ignore[index]
    assert desk.book.read(name) == changed
    assert desk.book.waiting() == []
    desk.check()


def test_a_change_that_fails_changes_nothing(desk: Desk) -> None:
    name = desk.gate(message(), PAUSING).name
    before = (desk.folder / name).read_bytes()

    def refuse(record: dict[str, object], _: object) -> dict[str, object]:
        record["decision"] = "auto_accepted"
        raise Refused("no")

    with pytest.raises(Refused):
        desk.book.change(name, refuse)
    assert (desk.folder / name).read_bytes() == before


def test_what_a_signature_proved_is_written_once_and_only_for_the_same_bytes(desk: Desk) -> None:
    name = desk.gate(message(), PAUSING, digest="a" * 64).name
    auth = {"status": "verified", "kid": "k"}
    with pytest.raises(Refused, match="other bytes"):
        desk.book.attach_auth(name, auth, "b" * 64)
    desk.book.attach_auth(name, auth, "a" * 64)
    result = desk.book.read(name)["result"]
    assert isinstance(result, dict)
    assert result["message_auth"] == auth
    assert list(result)[-2:] == ["human_outcome", "message_auth"]
    with pytest.raises(Refused, match="already"):
        desk.book.attach_auth(name, {"status": "unsigned"}, "a" * 64)
    desk.check()


@pytest.mark.parametrize("name", ["../x.yaml", "a/b.yaml", ".x.yaml", "x", "x.yaml.lock", "x\n.yaml", ""])
def test_no_name_leads_out_of_the_folder(desk: Desk, name: str) -> None:
    with pytest.raises(Unsafe):
        desk.book.change(name, lambda record, _: record)
    with pytest.raises(Unsafe):
        desk.book.read(name)


def test_a_record_that_is_not_there_is_told(desk: Desk) -> None:
    with pytest.raises(NothingThere):
        desk.book.change("20261001T120000Z_x.yaml", lambda record, _: record)
    assert desk.names() == []


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    book = AuditStore(str(tmp_path), ("audit", "autonomy_decisions"), "codex")
    assert book.history(message()) == []
    assert book.waiting() == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "audit").symlink_to(tmp_path / "elsewhere")
    book = AuditStore(str(tmp_path), ("audit", "autonomy_decisions"), "codex")
    with pytest.raises(Unsafe):
        book.admit(message(), lambda _: {}, now=AT)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_record_that_cannot_be_read_stops_its_own_message_only(desk: Desk) -> None:
    name = desk.gate(message()).name
    (desk.folder / name).write_bytes(b"decision: [")
    with pytest.raises(Damaged, match="replay"):
        desk.gate(message(), payload="ef" * 32)
    assert desk.gate(message(id="msg-another")).record["decision"] == "auto_accepted"
    found = desk.book.all()[name]
    assert isinstance(found, Unread)
    assert found.code == "record_unparsable"


def test_a_record_that_was_mended_counts_again(desk: Desk) -> None:
    name = desk.gate(message()).name
    good = (desk.folder / name).read_bytes()
    (desk.folder / name).write_bytes(b"decision: [")
    (desk.folder / FILE).unlink()
    with pytest.raises(Damaged):
        desk.gate(message())
    (desk.folder / name).write_bytes(good)
    assert desk.gate(message()).is_replay


@pytest.mark.parametrize("record", ["link", "fifo", "directory"])
def test_what_is_no_file_is_no_record_and_hangs_nobody(desk: Desk, record: str) -> None:
    path = desk.folder / "20261001T120000Z_msg-20260512120000-iris-clean1.yaml"
    if record == "link":
        path.symlink_to(desk.root / "nothing")
    elif record == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(Damaged):
        desk.gate(message())


def test_the_locks_are_those_that_other_programs_take(desk: Desk) -> None:
    name = desk.gate(message(), PAUSING).name
    identity = desk.folder / ".identity_codex_msg-20260512120000-iris-clean1.lock"
    assert identity.exists()
    assert (desk.folder / f"{name}.lock").exists()


@pytest.mark.parametrize("lock", [".identity_codex_msg-20260512120000-iris-clean1.lock", "{name}.lock"])
def test_a_lock_that_another_program_holds_is_waited_for(
    desk: Desk, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_module, "WAIT_SECONDS", 0.01)
    name = desk.gate(message(), PAUSING).name
    before = (desk.folder / name).read_bytes()
    with flocked(str(desk.folder / lock.format(name=name)), 0), pytest.raises(Busy):
        desk.gate(message())
    assert (desk.folder / name).read_bytes() == before
    assert len(desk.names()) == 1
    assert desk.gate(message()).record["decision"] == "auto_accepted"


# A step over several files.


def failing(monkeypatch: pytest.MonkeyPatch, module: object, name: str, when: Callable[..., bool]) -> None:
    real = getattr(module, name)

    def perhaps(*args: Any, **more: Any) -> Any:
        if when(*args):
            raise StorageFailed("no space")
        return real(*args, **more)

    monkeypatch.setattr(module, name, perhaps)


@pytest.mark.parametrize("where", ["plan", "record", "close", "memory"])
def test_a_step_that_fails_leaves_everything_as_it_was(desk: Desk, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = desk.gate(message(), PAUSING)
    before = {name: (desk.folder / name).read_bytes() for name in desk.names()}
    with monkeypatch.context() as patched:
        if where == "record":
            failing(patched, audit_step, "_create", lambda *_: True)
        elif where == "memory":
            failing(patched, Ledger, "spend", lambda *_: True)
        else:
            end = ".pending" if where == "plan" else first.name
            tried: list[str] = []

            def is_first(path: str, _: bytes) -> bool:
                tried.append(path)
                return path.endswith(end) and tried.count(path) == 1

            failing(patched, audit_step, "replace", is_first)
        with pytest.raises(StorageFailed, match="no space"):
            desk.gate(message())
    assert {name: (desk.folder / name).read_bytes() for name in desk.names()} == before
    assert not list(desk.folder.glob(".*.pending"))
    desk.check()
    assert desk.gate(message()).record["decision"] == "auto_accepted"
    desk.check()


@pytest.mark.parametrize("after", range(6))
def test_a_step_that_was_cut_anywhere_is_ended_or_never_happened(
    desk: Desk, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.gate(message(), PAUSING)
    desk.gate(message(), parse_policy({"autonomy": {"default_mode": "always_pause", "private_repo_allowlist": []}}))
    # Two that are live together, as other writers leave them.
    one = desk.names()[0]
    record = desk.book.read(one)
    assert isinstance(record["result"], dict)
    record["result"] |= {"final_state": "paused", "completed_at_utc": None}
    record.pop("superseded_by_evaluation_id", None)
    (desk.folder / one).write_bytes(render_record(record))
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from restante.stores.oacp import audit_step\n"
        "from tests.stores.oacp.test_audit import ACCEPTING, Desk, AT\n"
        "from tests.autonomy.fixtures import message\n"
        "left = [int(sys.argv[2])]\n"
        "def cut(name):\n"
        "    real = getattr(audit_step, name)\n"
        "    def step(*args, **more):\n"
        "        if left[0] == 0:\n"
        "            os._exit(9)\n"
        "        left[0] -= 1\n"
        "        return real(*args, **more)\n"
        "    setattr(audit_step, name, step)\n"
        "for name in ('replace', '_create', 'remove'):\n"
        "    cut(name)\n"
        "desk = Desk(Path(sys.argv[1]))\n"
        "desk.gate(message(), digest='d' * 64)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(desk.root), str(after)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert done.returncode in (0, 9), done.stderr
    # Whoever comes next finds one live record at most, by whatever question.
    live = [name for name, _ in desk.book.of_message("msg-20260512120000-iris-clean1")]
    states = [desk.book.read(name)["result"]["final_state"] for name in live]  # type: ignore[index]
    if any(desk.book.read(name)["decision"] == "auto_accepted" for name in live):
        assert states.count("superseded") == len(states) - 1
        desk.check()
    else:
        assert len(live) == 2
    assert not list(desk.folder.glob(".*.pending"))
    final = desk.gate(message(), digest="d" * 64)
    assert final.is_replay or final.record["decision"] == "auto_accepted"
    desk.check()


def test_a_plan_that_says_nothing_is_thrown_away(desk: Desk) -> None:
    name = desk.gate(message(), PAUSING).name
    before = (desk.folder / name).read_bytes()
    evil = {"record": name, "closed": {"../../x.yaml": ["", "a: 1"], name: ["other", "decision: no"]}}
    plans = [b"", b"{", b"[]", b'{"record": "../x.yaml", "closed": {}}', json.dumps(evil).encode()]
    for number, plan in enumerate(plans):
        (desk.folder / f".identity_codex_m{number}.pending").write_bytes(plan)
    assert len(desk.book.of_message("msg-20260512120000-iris-clean1")) == 1
    assert (desk.folder / name).read_bytes() == before
    assert not list(desk.folder.glob(".*.pending"))


# Lookups.


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    real = Directory.read

    def read(self: Directory, name: str, most: int) -> Any:
        if name.endswith(".yaml"):
            found.append(name)
        return real(self, name, most)

    monkeypatch.setattr(Directory, "read", read)
    return found


def fill(desk: Desk, count: int) -> None:
    name = desk.gate(message(id="msg-seed", conversation_id="conv-20260512-iris-000001"), PAUSING).name
    raw = (desk.folder / name).read_bytes()
    for number in range(count):
        other = raw.replace(b"msg-seed", b"msg-%06d" % number).replace(b"iris-000001", b"iris-1%05d" % number)
        (desk.folder / f"20261001T110000Z_msg-{number:06d}.yaml").write_bytes(other)


@pytest.mark.parametrize("name", [b"resul4:", b"result: |", b"result: {}\nresult:", b"before:"])
def test_a_state_that_is_not_the_results_is_not_seen_at_a_glance(desk: Desk, name: bytes) -> None:
    raw = (desk.folder / desk.gate(message(), PAUSING).name).read_bytes()
    assert quick_facts(raw) == facts_of(parse_record(raw))
    assert quick_facts(raw.replace(b"\nresult:", b"\n" + name)) is None
    assert (
        quick_facts(raw.replace(b"\nresult:", b"\nresult:\n  x: 1\n" + name)) is None or name == b"result: {}\nresult:"
    )


@pytest.mark.parametrize("count", [10, 1000])
def test_11_4_4_an_evaluation_opens_the_records_that_matter_and_no_others(
    desk: Desk, count: int, opened: list[str]
) -> None:
    fill(desk, count)
    desk.gate(message(id="msg-warm"))
    opened.clear()
    done = desk.gate(message(id="msg-new", parent_message_id="msg-000003", conversation_id="conv-20260512-iris-100005"))
    assert set(opened) == {"20261001T110000Z_msg-000003.yaml", "20261001T110000Z_msg-000005.yaml"}
    assert len(opened) <= 2
    opened.clear()
    assert desk.gate(message(id="msg-new")).is_replay
    assert set(opened) == {done.name}


def test_a_process_reads_of_the_index_only_what_was_added_and_checks_only_new_names(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[tuple[int, int]] = []
    names: list[str] = []
    real_records = audit_index._records

    def read(fd: int, size: int, offset: int) -> bytes:
        taken.append((size, offset))
        return read_at(fd, size, offset)

    def records(found: Any) -> Any:
        names.extend(found)
        return real_records(found)

    monkeypatch.setattr(audit_index, "read_at", read)
    monkeypatch.setattr(audit_index, "_records", records)
    fill(desk, 500)
    for number in range(2):
        desk.gate(message(id=f"msg-warm-{number}"))
    taken.clear()
    names.clear()
    desk.gate(message(id="msg-new"))
    size = (desk.folder / FILE).stat().st_size
    assert sum(read for read, _ in taken) < 1000 < 50 * 1000 < size
    assert len(names) < 10


def test_a_step_that_comes_under_a_known_name_again_is_ended(desk: Desk) -> None:
    """What one process knows of a folder does not hide a second step of the same message."""
    desk.gate(message(), PAUSING)
    pending = desk.folder / (identity_name("codex", str(message()["id"])) + PENDING)
    for _ in range(3):
        pending.write_text("{}")
        assert len(desk.book.waiting()) == 1
        assert not pending.exists()


@pytest.mark.parametrize("damage", ["gone", "anew", "cut", "garbage", "longer"])
def test_what_a_process_knows_of_an_index_that_changed_under_it_hides_nothing(desk: Desk, damage: str) -> None:
    fill(desk, 5)
    for number in range(3):
        desk.gate(message(id=f"msg-warm-{number}"))
    index = desk.folder / FILE
    whole = index.read_bytes()
    if damage == "gone":
        index.unlink()
    elif damage == "anew":
        index.unlink()
        index.write_bytes(whole[: len(whole) // 2].rpartition(b"\n")[0] + b"\n")
    elif damage == "cut":
        index.write_bytes(whole[:-7])
    elif damage == "garbage":
        index.write_bytes(os.urandom(2 * len(whole)))
    else:
        index.write_bytes(whole[:23] + whole[23:] * 3)
    raw = (desk.folder / "20261001T110000Z_msg-000003.yaml").read_bytes()
    (desk.folder / "20261001T130000Z_msg-foreign.yaml").write_bytes(raw.replace(b"msg-000003", b"msg-foreign"))
    for one in ("msg-000003", "msg-foreign", "msg-warm-1"):
        assert [found["message_id"] for found in desk.book.history(message(id=one))].count(one) == 1
    assert desk.gate(message(id="msg-warm-1")).is_replay
    assert len(AuditStore(str(desk.folder), (), "codex").history(message(id="msg-foreign"))) == 1


def test_what_another_program_wrote_is_opened_once_and_found(desk: Desk, opened: list[str]) -> None:
    fill(desk, 20)
    desk.gate(message(id="msg-warm"))
    raw = (desk.folder / "20261001T110000Z_msg-000003.yaml").read_bytes()
    foreign = "20261001T130000Z_msg-foreign.yaml"
    (desk.folder / foreign).write_bytes(raw.replace(b"msg-000003", b"msg-foreign"))
    opened.clear()
    assert [one["message_id"] for one in desk.book.history(message(id="msg-foreign"))] == ["msg-foreign"]
    assert set(opened) == {foreign}
    opened.clear()
    assert desk.book.history(message(id="msg-unrelated")) == []
    assert opened == []


def test_a_state_that_another_program_changed_is_seen(desk: Desk) -> None:
    name = desk.gate(message(), PAUSING).name
    assert len(desk.book.waiting()) == 1
    record = desk.book.read(name)
    changed = record_outcome(record, decision="declined", now=AT + timedelta(minutes=1)).record
    (desk.folder / "temporary").write_bytes(render_record(changed))
    (desk.folder / "temporary").rename(desk.folder / name)
    assert desk.book.waiting() == []
    assert desk.book.history(message())[0]["result"]["human_outcome"]["decision"] == "declined"  # type: ignore[index]


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "garbage", "link", "directory"])
def test_an_index_that_is_damaged_hides_nothing(desk: Desk, damage: str) -> None:
    fill(desk, 5)
    desk.gate(message())
    index = desk.folder / FILE
    whole = index.read_bytes()
    if damage == "gone":
        index.unlink()
    elif damage == "empty":
        index.write_bytes(b"")
    elif damage == "cut":
        index.write_bytes(whole[: len(whole) // 2])
    elif damage == "garbage":
        index.write_bytes(os.urandom(3000))
    elif damage == "link":
        index.unlink()
        index.symlink_to("/dev/zero")
    else:
        index.unlink()
        index.mkdir()
    assert desk.gate(message()).is_replay
    assert len(desk.book.history(message(id="msg-000003"))) == 1


@pytest.mark.parametrize("is_indexed", [True, False], ids=["known before", "damaged before anybody looked"])
def test_a_denial_that_cannot_be_read_does_not_let_an_older_approval_count(desk: Desk, is_indexed: bool) -> None:
    granting = policy(continuation_grants={"enabled": True})
    thread = {"conversation_id": "conv-20260512-iris-000001"}
    asking = {**HARMLESS, "continuation_grants": {KIND: {"scope": SCOPE}}}
    words = (("msg-asks-1", "approved", SCOPE), ("msg-asks-2", "declined", None))

    def decided(decision: str, scope: object, at: datetime) -> Callable[..., dict[str, object]]:
        said = "approved" if scope else None
        return lambda record, _: (
            record_outcome(record, decision=decision, now=at, grant_decision=said, grant_scope=scope).record
        )

    for minute, (one, decision, scope) in enumerate(words):
        at = AT + timedelta(minutes=minute)
        name = desk.gate(message(id=one, profile=asking, **thread), PAUSING, at=at, digest=f"{minute:064x}").name
        desk.book.change(name, decided(decision, scope, at + timedelta(seconds=9)))
    later = message(id="msg-later", created_at_utc="2026-10-01T12:30:00Z", **thread)
    if not is_indexed:
        (desk.folder / FILE).unlink()
    denial = desk.folder / name
    whole = denial.read_bytes()
    denial.write_bytes(whole[: len(whole) // 2] + b"\n: [")
    with pytest.raises(Damaged, match=f"{name} cannot be read"):
        desk.gate(later, granting, at=AT + timedelta(hours=1))
    denial.write_bytes(whole)
    record = desk.gate(later, granting, at=AT + timedelta(hours=1)).record
    assert record["continuation_grant"]["decision"] == "revoked"  # type: ignore[index]
    denial.unlink()
    record = desk.gate({**later, "id": "msg-last"}, granting, at=AT + timedelta(hours=2)).record
    # Without the denial the approval would have counted.
    assert record["continuation_grant"]["decision"] == "accepted"  # type: ignore[index]


def test_a_record_that_vanished_is_not_found(desk: Desk) -> None:
    name = desk.gate(message(), PAUSING).name
    (desk.folder / name).unlink()
    assert desk.book.history(message()) == []
    assert desk.book.waiting() == []
    assert desk.book.named("eval-0000000000000000") == ""


def test_the_index_does_not_grow_with_every_change(desk: Desk) -> None:
    name = desk.gate(message(), PAUSING).name
    for number in range(1100):
        with (desk.folder / FILE).open("ab") as file:
            file.write(f"{name}\t{number}\t1\t0000000000000000\t-\tpaused\t-\n".encode())
    assert len(desk.book.history(message())) == 0 or desk.book.history(message())
    assert (desk.folder / FILE).read_bytes().count(b"\n") < 10


def test_names_that_no_writer_gives_are_read_every_time(desk: Desk) -> None:
    name = desk.gate(message()).name
    (desk.folder / name).rename(desk.folder / "änd\neres.yaml")
    assert desk.gate(message(), payload="aa" * 32).is_replay
    assert "änd\neres.yaml" in desk.book.all()


# Records as files.


@needs_fixtures
@pytest.mark.parametrize("path", [*cases(AUTONOMY / "records"), *cases(AUTONOMY / "audits")], ids=lambda one: one.name)
def test_a_published_record_comes_back_as_it_was(path: Path) -> None:
    raw = path.read_bytes()
    if path.name == "expected_findings.yaml":
        return
    if path.name.startswith("duplicate_yaml_key"):
        with pytest.raises(Damaged, match="stands twice"):
            parse_record(raw)
        return
    record = parse_record(raw)
    assert parse_record(render_record(record)) == record
    quick = quick_facts(raw)
    assert quick is None or quick == facts_of(record)


TEXT = st.text(max_size=12) | st.sampled_from(
    [
        "null",
        "true",
        "1e5",
        "2026-10-01",
        "msg-1\nmessage_id: x",
        "a: b",
        "- a",
        "\x85",
        "\u2028",
        "'",
        '"',
        "&a",
        "*a",
        "!x",
    ]
)


@given(
    st.fixed_dictionaries(
        {"receiver": TEXT, "message_id": TEXT, "result": st.fixed_dictionaries({"final_state": TEXT})},
        optional={"conversation_id": TEXT | st.none(), "evaluation_id": TEXT, "message_subject": TEXT},
    )
)
def test_what_is_read_quickly_is_what_is_read_slowly(record: dict[str, object]) -> None:
    raw = render_record(record)
    assert parse_record(raw) == record
    quick = quick_facts(raw)
    assert quick is None or quick == facts_of(record)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="surrogatepass")))
def test_no_bytes_at_all_break_the_reader_of_records(raw: bytes) -> None:
    with contextlib.suppress(Damaged):
        parse_record(raw)
    quick_facts(raw)


@pytest.mark.parametrize(
    "raw",
    [b"a: " + b"[" * 200_000, b"- " * 5000, b"a: 1\na: 2\n", b"x" * 1_048_577, b"&a [*a]", b"? [a]\n: 1\n", b"1: 2\n"],
)
def test_hostile_records_are_told_as_damaged(raw: bytes) -> None:
    with pytest.raises(Damaged):
        parse_record(raw)


def test_a_few_lines_that_stand_for_gigabytes_are_not_built() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(Damaged):
        parse_record("\n".join(lines).encode())


@pytest.mark.parametrize(
    ("message_id", "safe"),
    [("a/../b", "a_.._b"), ("..", "missing-message-id"), ("", "missing-message-id"), ("é" * 5, "missing-message-id")],
)
def test_no_id_leads_out_of_the_folder(desk: Desk, message_id: str, safe: str) -> None:
    assert safe_id(message_id) == safe
    assert len(safe_id("x" * 500)) == 200
    if message_id:
        done = desk.gate(message(id=message_id), PAUSING)
        assert done.name == f"20261001T120000Z_{safe}.yaml"
        assert (desk.folder / done.name).is_file()
        assert sorted(path.name for path in desk.root.iterdir()) == ["records"]


def test_two_messages_whose_ids_look_alike_in_names_are_two(desk: Desk) -> None:
    one, other = desk.gate(message(id="a/b"), PAUSING), desk.gate(message(id="a_b"), PAUSING)
    assert len({one.name, other.name}) == 2
    assert not other.is_adopted
    desk.check()


def test_a_record_with_text_that_yaml_hardly_keeps_is_kept(desk: Desk) -> None:
    odd = message(subject="NEL \x85 LS \u2028 tab\t nul-less \U0001f600 'quoted' \"twice\" trailing ")
    done = desk.gate(odd, PAUSING)
    assert desk.book.read(done.name)["message_subject"] == odd["subject"]
    raw = (desk.folder / done.name).read_bytes()
    assert yaml.safe_load(raw)["message_subject"] == odd["subject"]


def test_the_folder_and_its_files_are_ours_alone(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir(mode=0o700)
    book = AuditStore(str(tmp_path / "agent"), ("audit", "autonomy_decisions"), "codex")
    fields = message()
    book.admit(
        fields,
        lambda history: evaluate(fields, "a" * 64, PAUSING, history, now=AT, receiver="codex", load=load).decision,
        now=AT,
    )
    for path in (tmp_path / "agent").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0, path
    record = book.history(fields)[0]
    assert record[AUDIT_FILE] == "20261001T120000Z_msg-20260512120000-iris-clean1.yaml"


def test_an_error_in_the_evaluation_writes_nothing(desk: Desk) -> None:
    def broken(_: object) -> dict[str, object]:
        raise RestanteError("no")

    with pytest.raises(RestanteError):
        desk.book.admit(message(), broken, now=AT)
    assert desk.names() == []
