"""Fresh ids are unique and sort in the order they were made."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from restante.domain.ids import is_well_formed
from restante.system.ids import MonotonicIds

START = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)


@given(st.lists(st.integers(-7_200_000, 5_000), min_size=2, max_size=50))
def test_ids_sort_in_the_order_they_were_made_however_the_clock_moves(moves: list[int]) -> None:
    ids, at, made = MonotonicIds(), START, []
    for move in moves:
        at += timedelta(milliseconds=move)
        made.append(ids.new("msg", at))
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(is_well_formed(one, "msg") for one in made)


def test_threads_never_get_the_same_id() -> None:
    ids, made = MonotonicIds(), list[str]()
    threads = [
        threading.Thread(target=lambda: made.extend(ids.new("msg", START) for _ in range(500))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8 * 500


def test_two_processes_at_one_moment_get_different_ids() -> None:
    assert len({MonotonicIds().new("msg", START) for _ in range(1000)}) == 1000
