"""What was agreed about monitors is statements in nine groups: each has a test that begins with its name.

A: a visible turn without anybody's help. B: the collector sees numbers only. C: one session a role. D: no turn twice.
E: ends. F: watchdogs. G: nobody unasked. H: the schedule. I: one-shot subscriptions.
"""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
GROUPS = {"a": 4, "b": 4, "c": 4, "d": 5, "e": 4, "f": 6, "g": 3, "i": 5}
STATEMENTS = {"h", *(f"{group}{number}" for group, most in GROUPS.items() for number in range(1, most + 1))}


def _named() -> dict[str, list[str]]:
    """Return the tests that begin with the name of a statement."""
    found: dict[str, list[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        for name, statement in re.findall(r"^ *(?:async )?def (test_(h|[a-i]\d)_\w+)", text, re.MULTILINE):
            found.setdefault(statement, []).append(name)
    return found


def test_every_statement_about_monitors_has_a_test_of_its_name() -> None:
    named = _named()
    assert sorted(STATEMENTS - set(named)) == []
    assert sorted(set(named) - STATEMENTS) == []
    assert len(STATEMENTS) == 36
