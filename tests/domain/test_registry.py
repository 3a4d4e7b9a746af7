"""What people are shown of a session's id."""

import pytest

from restante.domain.registry import brief

_MINUTE = 60_000


def _by_time(milliseconds: int) -> str:
    """Return an id of version 7 (RFC 9562), as Codex gives its threads."""
    digits = f"{milliseconds:012x}"
    return f"{digits[:8]}-{digits[8:]}-7abc-8def-0123456789ab"


@pytest.mark.parametrize("later", [1, 900, _MINUTE])
def test_sessions_that_began_within_a_minute_are_told_apart(later: int) -> None:
    began = 0x0199A1B20000
    first, second = _by_time(began), _by_time(began + later)
    assert first[:8] == second[:8]
    assert brief(first) != brief(second)


@pytest.mark.parametrize("session_id", [_by_time(1), "5d1f0c3e-7a7a-4711-9000-000000000000", "odd:id.of-a-session"])
def test_what_is_shown_of_a_long_id_names_the_session(session_id: str) -> None:
    assert session_id.startswith(brief(session_id))
    assert 8 <= len(brief(session_id)) < len(session_id)


@pytest.mark.parametrize("session_id", ["play-worker2", "x", ""])
def test_a_short_id_is_shown_whole(session_id: str) -> None:
    assert brief(session_id) == session_id
