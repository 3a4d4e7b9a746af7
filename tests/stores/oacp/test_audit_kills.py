"""Writers that are killed at any instant: records stay whole, steps are ended, evidence is complete or not there."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.autonomy.fixtures import message
from tests.oacp import make_tree
from tests.stores.oacp.test_audit import ACCEPTING, AT, PAUSING, Desk

from restante.autonomy.findings import Unread

ROOT = Path(__file__).resolve().parents[3]
ROUNDS = 12

# Both policies in turn, so that every evaluation closes the one before it.
GATE = """
import sys
from datetime import timedelta
from pathlib import Path
from restante.autonomy.policy import parse_policy
from tests.autonomy.fixtures import message
from tests.stores.oacp.test_audit import AT, Desk
desk = Desk(Path(sys.argv[1]))
print("ready", flush=True)
for turn in range(int(sys.argv[2]), 100_000):
    config = {"autonomy": {"default_mode": "always_pause", "turn": turn}}
    desk.gate(message(), parse_policy(config), at=AT + timedelta(seconds=turn), digest="d" * 64)
"""

QUARANTINE = """
import sys
from restante.stores.oacp.evidence import OwnInbox
from restante.stores.oacp.layout import Tree
from restante.testing.fakes import FakeClock
inbox = OwnInbox(Tree(sys.argv[1]), "demo", "dave", FakeClock())
print("ready", flush=True)
for turn in range(100_000):
    inbox.quarantine(f"m{turn % 7}.yaml", b"%d" % (turn % 7) * 200_000)
"""


def run_and_kill(code: str, *argv: str, seed: int) -> None:
    child = subprocess.Popen([sys.executable, "-c", code, *argv], stdout=subprocess.PIPE, cwd=ROOT)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    time.sleep(random.Random(seed).uniform(0.0, 0.15))  # the instant of the kill, not a wait for anything
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


@pytest.mark.slow
def test_a_gate_that_is_killed_at_any_instant_leaves_consistent_records(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for turn in range(ROUNDS):
        run_and_kill(GATE, str(tmp_path), str(turn * 5000), seed=turn)
        records = desk.book.all()
        assert not [name for name, one in records.items() if isinstance(one, Unread)]
        desk.check()
        live = [name for name, one in records.items() if one["result"]["final_state"] == "paused"]  # type: ignore[index,call-overload]
        assert len(live) <= 1
        assert len(records) < 2 or len(live) == 1
    done = desk.gate(message(), ACCEPTING, at=AT + timedelta(days=2), digest="d" * 64)
    assert done.record["decision"] == "auto_accepted"
    desk.check()
    assert desk.gate(message(), PAUSING, at=AT + timedelta(days=3), digest="d" * 64).record["decision"] == "paused"


@pytest.mark.slow
def test_evidence_is_whole_or_not_there(tmp_path: Path) -> None:
    make_tree(tmp_path, "demo", "dave")
    letters = tmp_path / "projects" / "demo" / "agents" / "dave" / "dead_letter"
    for turn in range(ROUNDS):
        run_and_kill(QUARANTINE, str(tmp_path), seed=turn)
        for path in letters.glob("m*"):
            assert path.read_bytes() == path.name[1].encode() * 200_000
            path.unlink()
