"""Instants of foreign records: ``2026-05-12T12:30:00Z``, whole seconds, always UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_FORM = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"


def parse_instant(value: object) -> datetime | None:
    """Return the instant that a value names, or None where it names none.

    A YAML reader gives an unquoted time as a datetime; one without a zone is taken as UTC, as YAML says.
    """
    if isinstance(value, datetime):
        try:
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        except OverflowError:
            return None
    if not isinstance(value, str) or re.fullmatch(_FORM, value, re.ASCII) is None:
        return None
    try:
        return datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def show_instant(instant: datetime) -> str:
    """Return an instant in the form of the records; parts of a second are left out."""
    return instant.astimezone(UTC).isoformat(timespec="seconds").removesuffix("+00:00") + "Z"
