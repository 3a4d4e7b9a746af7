"""The table that a benchmark prints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    ours: float
    unit: str
    baseline: str
    ratio: float | None
    wanted: str


def show(rows: list[Row]) -> None:
    """Print the table."""
    print(f"{'what':<46} {'median':>14}  {'ratio':>6}  {'wanted':<14} compared with")
    for row in rows:
        ratio = f"{row.ratio:.2f}x" if row.ratio is not None else ""
        print(f"{row.what:<46} {row.ours:>7.2f} {row.unit:<6}  {ratio:>6}  {row.wanted:<14} {row.baseline}")
