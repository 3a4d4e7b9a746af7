"""The published OACP fixtures, read for tests; and what the tests of this floor need beside them.

Found by the environment variable RESTANTE_TEST_OACP_FIXTURES, else beside the repository. Where they are absent every
test that needs them is skipped and says so.
"""

from __future__ import annotations

import copy
import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from restante.autonomy.instants import parse_instant
from restante.autonomy.policy import Policy, parse_policy
from restante.autonomy.threads import AUDIT_FILE

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "conformance" / "oacp-0.5.4"
ROOT = Path(os.environ.get("RESTANTE_TEST_OACP_FIXTURES") or _BESIDE)
AUTONOMY = ROOT / "autonomy"
NOW = datetime(2026, 10, 1, 12, 0, tzinfo=UTC)

needs_fixtures = pytest.mark.skipif(
    not ROOT.is_dir(), reason=f"NOT TESTED: the published OACP fixtures are not at {ROOT} (RESTANTE_TEST_OACP_FIXTURES)"
)


class StrictLoader(yaml.CSafeLoader):
    """YAML as typed values; a key that stands twice is an error."""


class DoubleKey(ValueError):
    """A mapping names the same key twice."""


def _mapping(loader: StrictLoader, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value]
    if len(keys) != len(set(keys)):
        raise DoubleKey(str(keys))
    return loader.construct_mapping(node, deep=True)


StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load(text: str) -> object:
    """Read YAML as typed values."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


@cache
def _read(path: Path) -> Any:
    return load(path.read_text(encoding="utf-8"))


def read(path: Path) -> Any:
    """Return a file's YAML, a copy for each who asks."""
    return copy.deepcopy(_read(path))


def cases(folder: Path) -> list[Path]:
    """Return the case files of a folder; none where the fixtures are absent."""
    return sorted(folder.glob("*.yaml"))


def rows(path: Path, *keys: str) -> list[dict[str, Any]]:
    """Return the rows of a corpus file; none where the fixtures are absent."""
    if not path.is_file():
        return []
    found = read(path)
    for key in keys:
        found = found[key]
    assert isinstance(found, list)
    return found


def history(names: list[str] | None) -> list[dict[str, Any]]:
    """Return the audit records of a case."""
    return [{**read(AUTONOMY / name), AUDIT_FILE: Path(name).name} for name in names or []]


def instant(value: object) -> datetime:
    """Return the instant of a fixture, or the one that all others are evaluated at."""
    return parse_instant(value) or NOW


def covers(expected: object, actual: object) -> bool:
    """Tell whether every key of what is expected stands in what came, with a value that covers it."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and covers(one, actual[key]) for key, one in expected.items()
        )
    return expected == actual


def policy(**changes: Any) -> Policy:
    """Return the standard policy of the fixtures, with changes to its autonomy block."""
    thresholds = {
        "max_estimated_minutes": 45,
        "max_expected_files_touched": 5,
        "destructive_ops": "pause",
        "external_side_effects": "allow_pr_artifacts",
        "auth_config_or_secrets": "pause",
        "dependency_changes": "pause",
        "public_visibility": "pause",
        "git_push_or_deploy": "pause",
        **changes.pop("thresholds", {}),
    }
    block = {
        "default_mode": "auto_review",
        "auto_review_thresholds": thresholds,
        "allow_without_task_profile": ["brainstorm_request"],
        "private_repo_allowlist": ["example-org/private-repo"],
        "continuation_grants": {"enabled": False},
        **changes,
    }
    return parse_policy({"autonomy": block})


HARMLESS: dict[Any, Any] = {
    "estimated_minutes": 20,
    "risk_tier": "P3",
    "expected_files_touched": 1,
    "destructive_ops": False,
    "external_side_effects": False,
    "touches_auth_config_or_secrets": False,
    "touches_dependencies": False,
    "public_visibility": False,
}


def with_profile(text: str, profile: dict[str, Any] | None = None) -> str:
    """Return a body with a profile."""
    block = yaml.safe_dump({"task_profile": HARMLESS if profile is None else profile}, sort_keys=False)
    return f"{text}\n\n{block}"


def message(text: str = "Update one paragraph.", **fields: Any) -> dict[str, Any]:
    """Return a message that the standard policy accepts, with changes."""
    return {
        "id": "msg-20260512120000-iris-clean1",
        "from": "iris",
        "to": "codex",
        "type": "task_request",
        "priority": "P2",
        "created_at_utc": "2026-05-12T12:00:00Z",
        "subject": "Small cleanup of the docs",
        "body": with_profile(text, fields.pop("profile", None)),
        **fields,
    }
