"""What is wrong with audit records: one at a time, and all of a folder together.

After OACP 0.5.3, sections 6.8 and 6.10 of the specification. An error says that a record cannot be relied on, an
advisory that it is old or incomplete. Superseded records are held to nothing but their successor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy import record_checks
from restante.autonomy.vocabulary import LIVE_STATES
from restante.autonomy.workclock import part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ADVISORIES = frozenset(
    {
        "admission_outcome_replaced_by_checkpoint_clear",
        "noncanonical_checkpoint_axis",
        "terminal_missing_actuals",
        "legacy_born_done_unfinalized",
        "terminal_missing_work_started_at",
    }
)


class RecordFinding(NamedTuple):
    """One thing that is wrong with a record.

    Attributes:
        code: Stable name.
        detail: What it is about, in words.
    """

    code: str
    detail: str = ""

    @property
    def severity(self) -> str:
        """``error`` or ``advisory``."""
        return "advisory" if self.code in ADVISORIES else "error"


class Unread(NamedTuple):
    """A file that gave no record.

    Attributes:
        code: ``record_unparsable`` or ``duplicate_yaml_key``.
        detail: What the reader said.
    """

    code: str
    detail: str = ""


class Sweep(NamedTuple):
    """What is wrong with the records of a folder.

    Attributes:
        records: Findings by file name; an empty list where all is well.
        duplicates: Records of one message that are live together: receiver, message id, file names.
    """

    records: dict[str, list[RecordFinding]]
    duplicates: list[tuple[str, str, list[str]]]

    @property
    def has_errors(self) -> bool:
        """Whether any record cannot be relied on."""
        return any(one.severity == "error" for found in self.records.values() for one in found)

    def report(self, *, swept: bool = True) -> dict[str, object]:
        """Return the findings as the command prints them; duplicates and sums only for a whole folder."""
        records = {
            name: [{"code": one.code, "severity": one.severity, "detail": one.detail} for one in found]
            for name, found in self.records.items()
        }
        if not swept:
            return {"records": records}
        sums: dict[str, int] = {}
        for one in (one for found in self.records.values() for one in found if one.severity == "advisory"):
            sums[one.code] = sums.get(one.code, 0) + 1
        groups = [
            {"receiver": receiver, "message_id": name, "files": files} for receiver, name, files in self.duplicates
        ]
        return {"records": records, "duplicate_groups": groups, "aggregated_advisories": sums}


def validate_record(record: object, peers: Sequence[Mapping[str, object]] | None = None) -> list[RecordFinding]:
    """Return what is wrong with one record.

    Args:
        record: The parsed record.
        peers: The other records of the same receiver and message; None where they are not known, and then a
            superseded record need only name its successor.
    """
    if isinstance(record, Unread):
        return [RecordFinding(record.code, record.detail)]
    if not isinstance(record, dict) or not isinstance(record.get("result"), dict):
        return [RecordFinding("record_unparsable", "no mapping with a result")]
    if part(record, "result").get("final_state") == "superseded":
        return [] if _has_successor(record, peers) else [RecordFinding("superseded_missing_successor")]
    return [RecordFinding(code, detail) for check in record_checks.CHECKS for code, detail in check(record)]


def _has_successor(record: Mapping[str, object], peers: Sequence[Mapping[str, object]] | None) -> bool:
    if isinstance(part(record, "result").get("superseded_by_message"), dict):
        return True
    successor = record.get("superseded_by_evaluation_id")
    if not isinstance(successor, str) or not successor:
        return False
    return peers is None or sum(is_successor(record, one, successor) for one in peers) == 1


def is_successor(record: Mapping[str, object], other: Mapping[str, object], name: str) -> bool:
    """Tell whether another record is the evaluation of this name that replaced a record."""
    more = other.get("superseded_evaluation_ids")
    replaced = [other.get("supersedes_evaluation_id"), *(more if isinstance(more, list) else [])]
    return (
        other.get("evaluation_id") == name
        and _identity(other) == _identity(record)
        and record.get("evaluation_id") is not None
        and record.get("evaluation_id") in replaced
    )


def _identity(record: Mapping[str, object]) -> tuple[str, str]:
    return str(record.get("receiver")), str(record.get("message_id"))


def sweep(records: Mapping[str, object]) -> Sweep:
    """Return what is wrong with the records of a folder.

    Args:
        records: By file name: a parsed record, or ``Unread`` where the file gave none.
    """
    families: dict[tuple[str, str], list[tuple[str, Mapping[str, object]]]] = {}
    for name, record in records.items():
        if isinstance(record, dict):
            families.setdefault(_identity(record), []).append((name, record))
    found = {}
    for name, record in records.items():
        family = families.get(_identity(record), []) if isinstance(record, dict) else []
        found[name] = validate_record(record, [one for other, one in family if other != name])
    duplicates = []
    for (receiver, message_id), family in families.items():
        live = _live(family)
        if len(live) > 1:
            duplicates.append((receiver, message_id, live))
            for name in live:
                found[name].append(RecordFinding("duplicate_logical_id", f"also live: {_others(live, name)}"))
    return Sweep(found, duplicates)


def _live(family: Iterable[tuple[str, Mapping[str, object]]]) -> list[str]:
    return sorted(name for name, one in family if part(one, "result").get("final_state") in LIVE_STATES)


def _others(names: list[str], own: str) -> str:
    return ", ".join(name for name in names if name != own)
