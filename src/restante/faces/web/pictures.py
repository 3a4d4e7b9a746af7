"""Small pictures as numbers for a template to draw: who writes to whom, and a line of what was unseen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from restante.faces.web.history import SPAN_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.domain.overview import Flow, Row
    from restante.faces.web.history import Sample

# More circles than this are a knot that nobody reads; the list says it all anyway.
_MOST_NODES = 12
_WIDTH, _HEIGHT = 320.0, 220.0
_RADIUS = 14.0
_ASIDE = 4.0
_SPARK_WIDTH, _SPARK_HEIGHT = 120.0, 28.0


class Node(NamedTuple):
    """A session in the picture: its name, its state, where it stands, and how far below that its name does."""

    name: str
    state: str
    x: float
    y: float

    @property
    def below(self) -> int:
        """Where no arrow goes: above in the upper half, else below."""
        return -20 if self.y < _HEIGHT / 2 else 28


class Edge(NamedTuple):
    """An arrow from whoever wrote to whom.

    Attributes:
        x1: Where it begins, with ``y1``; it ends at ``x2``, ``y2``.
        one: The name of who wrote.
        other: The name of whom to.
        letters: How many messages.
        waits: Whether some of them wait for an answer.
    """

    x1: float
    y1: float
    x2: float
    y2: float
    one: str
    other: str
    letters: int
    waits: bool


class Graph(NamedTuple):
    """The picture. ``left_out`` counts sessions for which there is no room."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int


class Spark(NamedTuple):
    """A line: its points as SVG writes them, and what a screen reader says of it."""

    width: float
    height: float
    points: str
    now: int
    most: int


def graph_of(rows: Sequence[Row], flows: Mapping[tuple[str, str], Flow], person: str) -> Graph | None:
    """Return who wrote to whom; ``None`` where nobody did.

    Args:
        rows: The sessions; those that come first are drawn where there is no room for all.
        flows: What was posted lately, by sender and session.
        person: What the person is called in it.
    """
    by_id = {row.session.id: row for row in rows}
    waiting = {(row.session.id, other) for row in rows for other in row.waits_for if other in by_id}
    lately = {(_node_of(sender, by_id), to): flow for (sender, to), flow in flows.items() if to in by_id}
    counted = {pair: flow.posted for pair, flow in lately.items()}
    waiting |= {(one, to) for (one, to), flow in lately.items() if flow.pending and one is not None}
    pairs = [(one, to) for one, to in dict.fromkeys([*waiting, *counted]) if one is not None and one != to]
    involved = {one for pair in pairs for one in pair}
    # Who waits deserves a place more than who only wrote; the person has one anyway.
    ranked = [one for one in ("", *by_id) if one in involved]
    ranked.sort(key=lambda one: one != "" and not any(one in pair for pair in waiting))
    drawn = ranked[:_MOST_NODES]
    if not drawn:
        return None
    places = {one: _place(number, len(drawn)) for number, one in enumerate(drawn)}
    names = {one: by_id[one].session.title if one else person for one in drawn}
    nodes = tuple(Node(names[one], by_id[one].state if one else "person", *places[one]) for one in drawn)
    edges = tuple(
        Edge(*_arrow(places[one], places[to]), names[one], names[to], counted.get((one, to), 0), (one, to) in waiting)
        for one, to in sorted(pairs, key=lambda pair: pair not in waiting)
        if one in places and to in places
    )
    return Graph(_WIDTH, _HEIGHT, nodes, edges, len(ranked) - len(drawn))


def sparkline(samples: Sequence[Sample], now: float) -> Spark:
    """Return a line through the last hour in steps, the oldest first; it ends now (seconds since 1970)."""
    most = max((one.unseen for one in samples), default=0)
    begin = now - SPAN_SECONDS
    height = _SPARK_HEIGHT - 4

    def point(at: float, unseen: int) -> str:
        x = max(0.0, at - begin) / SPAN_SECONDS * _SPARK_WIDTH
        return f"{x:.1f},{2 + height - (unseen / most * height if most else 0):.1f}"

    points: list[str] = []
    for before, one in zip([None, *samples], samples, strict=False):
        points += [point(one.at, before.unseen)] if before else []
        points.append(point(one.at, one.unseen))
    if samples:
        points.append(point(now, samples[-1].unseen))
    return Spark(_SPARK_WIDTH, _SPARK_HEIGHT, " ".join(points), samples[-1].unseen if samples else 0, most)


def _node_of(sender: str, by_id: Mapping[str, Row]) -> str | None:
    """Return what stands for a sender: a session's id, empty for the person, ``None`` for anybody else."""
    if sender == "human":
        return ""
    session = sender.removeprefix("session:")
    return session if session != sender and session in by_id else None


def _place(number: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * number / count - math.pi / 2
    x = _WIDTH / 2 + (_WIDTH / 2 - 60) * math.cos(angle)
    y = _HEIGHT / 2 + (_HEIGHT / 2 - 34) * math.sin(angle)
    return round(x, 1), round(y, 1)


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float, float, float]:
    """Return an arrow that begins and ends at the rims of its circles, a little aside of the one that comes back."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, down) or 1.0
    step_x, step_y = across / length, down / length
    aside_x, aside_y = -step_y * _ASIDE, step_x * _ASIDE
    rim, tip = _RADIUS, _RADIUS * 1.5
    points = (
        start[0] + step_x * rim + aside_x,
        start[1] + step_y * rim + aside_y,
        end[0] - step_x * tip + aside_x,
        end[1] - step_y * tip + aside_y,
    )
    return round(points[0], 1), round(points[1], 1), round(points[2], 1), round(points[3], 1)
