"""Small pictures as numbers for a template to draw: who waits for whom, and a line of what was unseen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.domain.overview import Row

# More circles than this are a knot that nobody reads; the list says it all anyway.
_MOST_NODES = 12
_WIDTH, _HEIGHT = 320.0, 220.0
_RADIUS = 14.0
_SPARK_WIDTH, _SPARK_HEIGHT = 120.0, 28.0


class Node(NamedTuple):
    """A session in the picture: its name, its state, and where it stands."""

    name: str
    state: str
    x: float
    y: float


class Edge(NamedTuple):
    """An arrow from whoever wrote to whoever has not answered."""

    x1: float
    y1: float
    x2: float
    y2: float


class Graph(NamedTuple):
    """The picture. ``left_out`` counts sessions for which there is no room."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    words: tuple[tuple[str, str], ...]
    left_out: int


class Spark(NamedTuple):
    """A line: its points as SVG writes them, and what a screen reader says of it."""

    width: float
    height: float
    points: str
    now: int
    most: int


def graph_of(rows: Sequence[Row]) -> Graph | None:
    """Return who waits for whom; ``None`` where nobody does."""
    by_id = {row.session.id: row for row in rows}
    pairs = [(row.session.id, other) for row in rows for other in row.waits_for if other in by_id]
    if not pairs:
        return None
    involved = list(dict.fromkeys(one for pair in pairs for one in pair))
    drawn = involved[:_MOST_NODES]
    places = {one: _place(number, len(drawn)) for number, one in enumerate(drawn)}
    nodes = tuple(Node(by_id[one].session.title, by_id[one].state, *places[one]) for one in drawn)
    edges = tuple(_edge(places[one], places[other]) for one, other in pairs if one in places and other in places)
    words = tuple((by_id[one].session.title, by_id[other].session.title) for one, other in pairs[: 2 * _MOST_NODES])
    return Graph(_WIDTH, _HEIGHT, nodes, edges, words, len(involved) - len(drawn))


def sparkline(samples: Sequence[tuple[float, int]]) -> Spark:
    """Return a line through samples of time and number, the oldest first."""
    most = max((number for _, number in samples), default=0)
    first = samples[0][0] if samples else 0.0
    span = max(1.0, samples[-1][0] - first) if samples else 1.0
    height = _SPARK_HEIGHT - 4
    points = [
        f"{(at - first) / span * _SPARK_WIDTH:.1f},{2 + height - (number / most * height if most else 0):.1f}"
        for at, number in samples
    ]
    if len(points) == 1:
        points.append(f"{_SPARK_WIDTH:.1f},{points[0].partition(',')[2]}")
    return Spark(_SPARK_WIDTH, _SPARK_HEIGHT, " ".join(points), samples[-1][1] if samples else 0, most)


def _place(number: int, count: int) -> tuple[float, float]:
    angle = 2 * math.pi * number / count - math.pi / 2
    x = _WIDTH / 2 + (_WIDTH / 2 - 60) * math.cos(angle)
    y = _HEIGHT / 2 + (_HEIGHT / 2 - 34) * math.sin(angle)
    return round(x, 1), round(y, 1)


def _edge(start: tuple[float, float], end: tuple[float, float]) -> Edge:
    """Return an arrow that begins and ends at the rims of its circles."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, down) or 1.0
    step_x, step_y = across / length * _RADIUS, down / length * _RADIUS
    points = (start[0] + step_x, start[1] + step_y, end[0] - step_x * 1.5, end[1] - step_y * 1.5)
    return Edge(*(round(one, 1) for one in points))
