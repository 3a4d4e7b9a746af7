"""How the demo tells its story: headings, quoted output, and checks that end it."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_numbers = count(1)


class Failed(Exception):
    """A step of the demo did not do what it should."""


def tell(text: str) -> None:
    """Print a sentence."""
    print(text, flush=True)


def step(title: str) -> None:
    """Begin a step."""
    print(f"\n== {next(_numbers)}. {title}", flush=True)


def show(text: str) -> None:
    """Print something real, set apart from the demo's own words."""
    print("\n".join(f"  | {line}".rstrip() for line in text.splitlines()), flush=True)


def show_file(path: Path) -> None:
    """Print a file."""
    show(f"--- {path.parent.name}/{path.name}\n{path.read_text()}")


def check(claim: str, holds: bool) -> None:
    """Print a claim, and end the demo if it does not hold.

    Raises:
        Failed: It does not hold.
    """
    print(f"  {'ok   ' if holds else 'FAILED'} {claim}", flush=True)
    if not holds:
        raise Failed(claim)
