"""The judgement after the chaos complains of whatever does not hold."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from tests.chaos.verdict import LOST_BELL, WINDOW, Records, faults

from restante.domain.lifecycle import Standing, Status
from restante.domain.mailbox import Entry
from restante.domain.message import Message
from restante.domain.receipt import Decision, Receipt

if TYPE_CHECKING:
    from pathlib import Path

ROLE = "lexer/ann"
ONE, TWO = "holder-0-1", "holder-0-2"
LOG = [
    (0, "host-0-1", "start", {"kind": "host"}),
    (0, ONE, "start", {"kind": "holder"}),
    (1, ONE, "took", {"role": ROLE, "generation": 1}),
    (2, ONE, "armed", {"role": ROLE}),
    (500, "poster-0-1", "posted", {"ids": ["m1"]}),
    (600, ONE, "kill", {"kind": "holder"}),
    (600, TWO, "start", {"kind": "holder"}),
    (601, TWO, "took", {"role": ROLE, "generation": 2}),
    (602, TWO, "armed", {"role": ROLE}),
]


def judge(
    place: Path,
    *,
    seen: float = 510.0,
    said: tuple[tuple[float, str], ...] = ((511.0, ONE),),
    wakes: tuple[tuple[float, int, str], ...] = ((500.0, 1, ONE),),
    log: list[tuple[float, str, str, dict[str, object]]] = LOG,  # type: ignore[assignment]
    kept: str = "m1",
) -> list[str]:
    lines = [json.dumps({"at": at, "who": who, "did": did, **facts}) for at, who, did, facts in log]
    (place / "log").write_text("\n".join(lines))
    (place / "posts").mkdir(exist_ok=True)
    (place / "wakes").write_text("".join(f"{at} {ROLE} {mark} 1 {who}\n" for at, mark, who in wakes))
    entry = Entry(Message(kept, 1, ROLE, time(500), "text"), Standing(Status.ACCEPTED, seen_at=time(seen)))
    receipts = [
        Receipt(f"r{number}", kept, time(at), Decision.ACCEPTED, by=f"session:{who}")
        for number, (at, who) in enumerate(said)
    ]
    return faults(Records(place), {ROLE: [entry]}, lambda _, __: [Receipt("r", kept, time(500)), *receipts])


def time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_nothing_is_complained_of_where_all_holds(tmp_path: Path) -> None:
    assert judge(tmp_path) == []
    # A wake that failed, or could not be made, is made again after a while; a host that is not there wakes nobody.
    assert judge(tmp_path, wakes=((500, 1, ONE), (590, 1, ONE))) == []
    dark = [*LOG, (501, "host-0-1", "kill", {"kind": "host"})]
    assert judge(tmp_path, seen=599, said=((599.0, ONE),), log=dark) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"said": ()}, "acknowledged 0 times"),
        ({"said": ((511.0, ONE), (512.0, ONE))}, "acknowledged 2 times"),
        ({"said": ((650.0, ONE),)}, "acknowledged by holder-0-1 at 650.0, not in"),
        ({"said": ((511.0, TWO),)}, "acknowledged by holder-0-2 at 511.0, not in"),
        ({"said": ((511.0, "poster-0-1"),)}, "never held it"),
        ({"kept": "m2"}, "m1 was posted and is not there"),
        ({"wakes": ((500, 1, ONE), (530, 1, ONE))}, "woken again after 30.0 s"),
        ({"wakes": tuple((500 + 90 * n, 1, ONE) for n in range(4))}, "was woken 4 times"),
        ({"wakes": ((500, 2, ONE),)}, "is for no message"),
        ({"wakes": ((500, 1, "holder-9-9"),)}, "is for whoever never held the role"),
        ({"seen": 602 + WINDOW + 9, "said": ((602.0 + WINDOW + 9, TWO),)}, "holder-0-2 of lexer/ann was deaf to m1"),
    ],
)
def test_each_fault_is_found(tmp_path: Path, words: dict[str, object], complaint: str) -> None:
    found = judge(tmp_path, **words)  # type: ignore[arg-type]
    assert any(complaint in one for one in found), found


def test_who_did_not_say_that_it_posted_may_have_rung_no_bell(tmp_path: Path) -> None:
    log = [one for one in LOG if one[2] != "posted"]
    for late, count in ((WINDOW + 9, 0), (LOST_BELL + 9, 1)):
        at = 602 + late
        assert len(judge(tmp_path, seen=at, said=((at, TWO),), log=log)) == count  # type: ignore[arg-type]
