"""What the small pictures of the overview show: who writes to whom, and how much was unseen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from restante.domain.mailbox import Counts
from restante.domain.overview import Flow, Row
from restante.domain.registry import Presence, Session
from restante.faces.web.history import SPAN_SECONDS, History, Sample
from restante.faces.web.pictures import graph_of, sparkline

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def row(name: str, *waits_for: str) -> Row:
    session = Session(name, "", "codex", name, "", "", None, NOW, NOW)
    return Row(session, Presence.ALIVE, Counts(), waits_for=waits_for)


def test_the_picture_has_an_arrow_for_whoever_wrote_and_tells_where_an_answer_is_missing() -> None:
    flows = {
        ("session:a", "b"): Flow(2, 0),
        ("session:b", "a"): Flow(1, 0),
        ("human", "a"): Flow(3, 1),
        ("session:unknown", "a"): Flow(9, 9),
    }
    graph = graph_of([row("a", "b"), row("b"), row("c")], flows, "you")
    assert graph
    assert {one.name for one in graph.nodes} == {"you", "a", "b"}
    told = {(one.one, one.other): (one.letters, one.waits) for one in graph.edges}
    assert told == {("a", "b"): (2, True), ("b", "a"): (1, False), ("you", "a"): (3, True)}


def test_two_arrows_between_the_same_two_do_not_lie_on_each_other() -> None:
    graph = graph_of([row("a"), row("b")], {("session:a", "b"): Flow(1, 0), ("session:b", "a"): Flow(1, 0)}, "you")
    assert graph
    one, other = graph.edges
    assert (one.x1, one.y1) != (other.x2, other.y2)


def test_there_is_no_picture_where_nobody_wrote() -> None:
    assert graph_of([row("a"), row("b")], {}, "you") is None


def test_of_many_those_who_wait_are_drawn_and_the_rest_is_counted() -> None:
    rows = [row(f"s{number:02}") for number in range(30)]
    rows[29] = row("s29", "s28")
    flows = {(f"session:s{number:02}", f"s{number + 1:02}"): Flow(1, 0) for number in range(29)}
    graph = graph_of(rows, flows, "you")
    assert graph
    assert len(graph.nodes) == 12
    assert graph.left_out == 18
    assert {"s28", "s29"} <= {one.name for one in graph.nodes}


def test_the_line_goes_in_steps_over_an_hour_and_ends_now() -> None:
    now = NOW.timestamp()
    line = sparkline([Sample(now - SPAN_SECONDS, 0), Sample(now - SPAN_SECONDS / 2, 4)], now)
    assert line.points == "0.0,26.0 60.0,26.0 60.0,2.0 120.0,2.0"
    assert (line.now, line.most) == (4, 4)
    assert sparkline([], now).points == ""


@pytest.mark.parametrize("steps", [1, 400])
def test_the_history_keeps_what_changed_within_an_hour_and_bears_a_clock_that_is_set_back(steps: int) -> None:
    history = History()
    for number in range(steps):
        history.note("", NOW + timedelta(seconds=30 * number), number % 2)
    end = NOW + timedelta(seconds=30 * steps)
    kept = history.note("", end, 7)
    assert kept[-1] == Sample(end.timestamp(), 7)
    assert len([one for one in kept if one.at <= end.timestamp() - SPAN_SECONDS]) <= 1
    assert history.note("", NOW - timedelta(days=1), 1) == [Sample((NOW - timedelta(days=1)).timestamp(), 1)]
    assert history.note("ada", NOW, 2) == [Sample(NOW.timestamp(), 2)]
