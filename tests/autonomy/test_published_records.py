"""The published audit records, with exactly the findings that they are published with."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
import yaml
from tests.autonomy.fixtures import AUTONOMY, DoubleKey, StrictLoader, needs_fixtures, read

from restante.autonomy.findings import Sweep, Unread, sweep

pytestmark = needs_fixtures

RECORDS = AUTONOMY / "records"
EXPECTED = RECORDS / "expected_findings.yaml"
WANTED: dict[str, list[str]] = read(EXPECTED) if EXPECTED.is_file() else {}


def record_of(name: str) -> Any:
    try:
        return yaml.load((RECORDS / name).read_text(encoding="utf-8"), Loader=StrictLoader)
    except DoubleKey as error:
        return Unread("duplicate_yaml_key", str(error))


@cache
def swept() -> Sweep:
    return sweep({name: record_of(name) for name in WANTED})


@pytest.mark.parametrize("name", WANTED)
def test_a_record_has_the_published_findings(name: str) -> None:
    assert Counter(finding.code for finding in swept().records[name]) == Counter(WANTED[name])


def test_two_live_records_of_one_message_are_one_group() -> None:
    report = swept().report()
    assert len(WANTED) == 37
    assert report["duplicate_groups"] == [
        {
            "receiver": "claude",
            "message_id": "msg-20260801010000-alice-0013",
            "files": ["duplicate_live_a.yaml", "duplicate_live_b.yaml"],
        }
    ]
    assert swept().has_errors
    assert report["aggregated_advisories"] == {
        "admission_outcome_replaced_by_checkpoint_clear": 1,
        "noncanonical_checkpoint_axis": 2,
        "legacy_born_done_unfinalized": 5,
        "terminal_missing_work_started_at": 2,
    }


def test_a_single_file_is_reported_without_what_only_a_folder_knows() -> None:
    report = sweep({"a.yaml": record_of("clean_terminal_done.yaml")}).report(swept=False)
    assert report == {"records": {"a.yaml": []}}
