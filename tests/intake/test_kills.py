"""Working off an inbox, killed anywhere: nothing is lost or halved, and nobody is answered twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests.killed import before_each_step

from restante.autonomy.findings import Unread, sweep
from restante.domain.errors import NothingThere
from restante.domain.inquiry import Word
from restante.stores.oacp.audit import AuditStore
from restante.stores.oacp.delivering import mend
from restante.stores.oacp.layout import Tree
from restante.wiring.intake import open_intake

if TYPE_CHECKING:
    from pathlib import Path

    from tests.inboxes import Inboxes

    from restante.domain.inquiry import Inquiry

# What is sent, by subject, and with which words it is answered in the end.
MAIL = {"news": [], "receipt": ["Seen."], "task": ["Done."], "refused": ["No."], "slow": ["Under way.", "Done."]}
MAIL["wide"] = ["Blocked: autonomy threshold exceeded - files_touched expected 1, now 9", "Done."]
MAIL["asked"] = ["Done."]


def fill(inboxes: Inboxes) -> dict[str, bytes]:
    """Send one message of each kind; return their bytes by name."""
    inboxes.policy()
    inboxes.send(subject="news")
    inboxes.send(body="Please confirm that you saw it.", subject="receipt")
    for subject in ("task", "slow", "wide"):
        inboxes.task(subject=subject)
    for subject in ("refused", "asked"):
        inboxes.task("rm -rf build", subject=subject)
    inbox = inboxes.agents / "codex" / "inbox"
    return {name: (inbox / name).read_bytes() for name in inboxes.names()}


def words_for(inboxes: Inboxes, stage: str, subject: str) -> Word:
    """Return what is answered: the same each time it is asked, as far as what was answered before allows."""
    said = [reply["body"].strip() for reply in inboxes.replies() if reply["subject"] == f"Re: {subject}"]
    if stage == "admission":
        return Word("decline", "No.") if subject == "refused" else Word("approve")
    if stage == "work":
        if subject == "slow" and not said:
            return Word("progress", "Under way.", files=1)
        return Word("done", "Done.", files=9 if subject == "wide" else 1)
    if stage == "closing":
        # Killed between the decision and the answer: the sender is told now.
        return Word("archive") if said else Word("reply", MAIL[subject][-1])
    return Word("receipt", "Seen.") if subject == "receipt" else Word("archive")


def work_off(inboxes: Inboxes) -> None:
    """Work off the inbox."""

    def ask(asked: Inquiry) -> Word:
        return words_for(inboxes, asked.stage, str(asked.fields["subject"]))

    open_intake("demo", "codex", {"OACP_HOME": str(inboxes.home)}).drain(ask, lambda step: None)


def check(inboxes: Inboxes, sent: dict[str, bytes]) -> None:
    """Check that what is there is consistent, whatever happened."""
    mend(Tree(str(inboxes.home)), "demo")
    inbox = inboxes.agents / "codex" / "inbox"
    for name, raw in sent.items():
        places = [one for one in (inbox / name, inbox / "archive" / name) if one.exists()]
        assert places
        assert {one.read_bytes() for one in places} == {raw}
        # Both names only where an archiver was killed between them, and then of one file.
        assert len({one.stat().st_ino for one in places}) == 1
    assert set(inboxes.names("alice")) == set(inboxes.names("codex", "outbox"))
    for name in inboxes.names("alice"):
        assert (inboxes.agents / "alice" / "inbox" / name).read_bytes() == (
            inboxes.agents / "codex" / "outbox" / name
        ).read_bytes()
    for subject, wanted in MAIL.items():
        said = answers(inboxes, subject)
        assert sorted(said) == sorted(set(said) & set(wanted)), f"{subject}: {said}"
    records = {}
    with suppress(NothingThere):
        records = AuditStore.of_agent(str(inboxes.home), "demo", "codex").all()
    assert not [one for one in records.values() if isinstance(one, Unread)]
    found = sweep({name: one for name, one in records.items() if not isinstance(one, Unread)})
    assert not [one for name in found.records for one in found.records[name] if one.severity == "error"]


def answers(inboxes: Inboxes, subject: str) -> list[str]:
    return [reply["body"].strip() for reply in inboxes.replies() if reply["subject"] == f"Re: {subject}"]


def finish(inboxes: Inboxes, sent: dict[str, bytes]) -> None:
    """Come again until everything is dealt with, and check that all of it is, once."""
    for _ in range(4):
        work_off(inboxes)
    check(inboxes, sent)
    assert inboxes.names() == []
    assert inboxes.names("codex", "inbox/archive") == sorted(sent)
    for subject, wanted in MAIL.items():
        assert sorted(answers(inboxes, subject)) == sorted(wanted), subject
    replies = {reply["id"]: reply for reply in inboxes.replies()}
    done = [one for one in inboxes.records() if one["result"]["final_state"] == "done"]
    ended = {one["message_subject"]: one["result"] for one in done}
    assert set(ended) == {"task", "slow", "wide", "asked"}
    for result in ended.values():
        assert replies[result["reply_message_id"]]["body"].strip() == "Done."
    begun = inboxes.home / "projects" / "demo" / "state" / "restante" / "codex" / "begun"
    assert list(begun.glob("*.json")) == []


@pytest.mark.parametrize("stride", [97, pytest.param(41, marks=pytest.mark.slow)])
def test_a_round_killed_before_any_of_its_steps_is_ended_by_the_next(
    inboxes: Inboxes, tmp_path: Path, stride: int
) -> None:
    from tests.inboxes import Inboxes as Fresh

    first = random.Random().randrange(1, stride + 1)
    homes = iter(range(100_000))

    def renewed() -> tuple[Inboxes, dict[str, bytes]]:
        home = tmp_path / f"home-{next(homes)}"
        home.mkdir()
        fresh = Fresh(home, inboxes._capsys, inboxes._monkeypatch)
        return fresh, fill(fresh)

    here = [renewed()]
    tried = []
    for number in before_each_step(lambda: work_off(here[0][0]), first=first, stride=stride):
        check(*here[0])
        finish(*here[0])
        here[0] = renewed()
        tried.append(number)
    assert tried[-1] > 100


@pytest.mark.slow
def test_check_inbox_killed_at_random_instants(inboxes: Inboxes) -> None:
    sent = fill(inboxes)
    dice = random.Random()  # the instants differ from run to run
    for _ in range(20):
        command_and_kill(inboxes, dice)
        check(inboxes, sent)
    finish(inboxes, sent)


def command_and_kill(inboxes: Inboxes, dice: random.Random) -> None:
    """Run the command, answer what it asks, and kill it somewhere near one of the things that it tells."""
    words = ("check-inbox", "--project", "demo", "--agent", "codex", "--json")
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "restante", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"OACP_HOME": str(inboxes.home), "PATH": os.environ["PATH"]},
        text=True,
    )
    assert process.stdin
    assert process.stdout
    most = dice.randrange(1, 12)
    for _ in range(most):
        line = process.stdout.readline()
        if not line:
            break
        event: dict[str, Any] = json.loads(line)
        if event["event"] == "inquiry":
            word = words_for(inboxes, event["stage"], event["message"]["subject"])
            said = {"choice": word.choice, "reply": word.reply, "files": word.files, "sha256": event["sha256"]}
            process.stdin.write(json.dumps({key: one for key, one in said.items() if one not in ("", None)}) + "\n")
            process.stdin.flush()
    time.sleep(dice.random() * 0.012)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
