"""What users of a program of this kind reported about monitors, leases, delivery and identity has a test each.

Reports of one cause stand together, and one test that names any of them is enough; its name begins with the number.
What was reported about other things is listed with the reason why it is no matter of monitors here.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

REPORTS = (
    *((13,), (62, 65), (66,), (67,), (92,), (93,), (107, 111), (114,), (127, 145), (133,), (134, 181, 567), (149,)),
    *((151,), (157,), (159, 171), (163,), (197,), (280, 281), (299,), (300,), (338,), (350, 353), (959, 960)),
    *((365, 366, 367), (378,), (442, 444), (465,), (466, 485), (558, 560), (595,), (605,), (629,), (637, 653, 658)),
    *((648, 656), (677,), (683,), (684, 691, 692), (687,), (693, 737), (694,), (721, 838, 967), (906,), (982, 983)),
    *((1011, 1013), (1056,), (1071, 1074), (1236,), (1330,)),
)
NO_MATTER_OF_MONITORS = {
    (95, 96): "settings passed as an argument: the installer writes files, and no adapter is given any text of mail",
    (449, 896): "a process for each of hundreds of small steps: one process a command, held by the import budget",
    (458, 471): "numbers of two kinds of processes on one system that is not supported",
    (780,): "processes for each message: one process a command",
    (910,): "a process for each event of a history: none is replayed",
    (1097, 1385): "ending a program that was started here: none is",
}
# The number or numbers with which a name begins, behind the statement that it shows where there is one.
_NAMED = re.compile(r"^ *(?:async )?def test_(?:[a-i]\d_and_)?(?:report_)?(\d{2,4}_\w+)", re.MULTILINE)
# Tests whose names begin with a number of something else; clauses of OACP have more than one.
_OTHERS = ("41_of_44_restarts_bring_back_pending_mail",)
_CLAUSE = re.compile(r"\d+_\d+_")


def _named() -> set[int]:
    """Return the reports that a test names."""
    found: set[int] = set()
    for path in TESTS.rglob("test_*.py"):
        for name in _NAMED.findall(path.read_text(encoding="utf-8")):
            if name not in _OTHERS and not _CLAUSE.match(name):
                found.update(int(one) for one in re.findall(r"(?:^|_and_)(?:report_)?(\d{2,4})(?=_)", name))
    return found


def test_every_report_that_touches_monitors_has_a_test_that_names_it() -> None:
    named = _named()
    assert [one for one in REPORTS if not named.intersection(one)] == []
    assert sorted(named - set(chain(*REPORTS))) == []


def test_each_report_is_on_one_list_only() -> None:
    numbers = [*chain(*REPORTS), *chain(*NO_MATTER_OF_MONITORS)]
    assert len(numbers) == len(set(numbers))
    assert all(NO_MATTER_OF_MONITORS.values())
