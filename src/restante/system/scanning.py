"""The rule set of Kingfisher, a maintained library for finding secrets, as a second scanner.

It knows several hundred kinds of tokens that our own few rules do not. It takes about 0.7 s of CPU to load even from
its cache (several seconds the first time), so it is used only where the option ``screening.library`` is on and the
extra ``scan`` is installed. It works offline; its cache of compiled rules holds no text of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from restante.domain.errors import BadConfig
from restante.domain.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Found(Protocol):
    """What we use of one of the library's findings."""

    @property
    def rule_id(self) -> str:
        """Name of the library's rule, with its source before a dot."""

    @property
    def visible(self) -> bool:
        """Whether it counts by itself, and not only as a part of another."""

    @property
    def location(self) -> Mapping[str, int]:
        """Where it is; ``start_offset`` and ``end_offset`` count bytes."""


class Library(Protocol):
    """What we use of the library's scanner."""

    def scan(self, data: bytes) -> Sequence[Found]:
        """Return what it finds in UTF-8 text."""


class KingfisherScanner:
    """``ports.Scanner`` over the package ``kingfisher-secret-scanner``; imported at the first scan.

    Args:
        load: Returns the library's scanner; for those who bring their own set of rules.
    """

    def __init__(self, load: Callable[[], Library] | None = None) -> None:
        self._load = load or _load
        self._scanner: Library | None = None

    def scan(self, text: str) -> list[Finding]:
        """Return the findings in order of appearance; of a secret nothing is shown.

        Raises:
            BadConfig: The library is not installed.
        """
        if self._scanner is None:
            self._scanner = self._load()
        from restante.domain.screening.text import line_starts, with_copies

        data = text.encode("utf-8", "replace")
        spans = [(_span(data, one.location), one.rule_id) for one in self._scanner.scan(data) if one.visible]
        starts = line_starts(text)
        hidden = with_copies(text, [span for span, _ in spans])
        return [_finding(text, starts, span, rule_id, hidden) for span, rule_id in sorted(spans)]


def _load() -> Library:
    try:
        import kingfisher_sdk
    except ImportError:
        raise BadConfig(
            ("screening.library is on, but the library is not installed (pip install 'restante[scan]')",),
            source="screening",
        ) from None
    scanner: Library = kingfisher_sdk.Scanner()
    return scanner


def _span(data: bytes, location: Mapping[str, int]) -> tuple[int, int]:
    """Return where a finding is, in characters."""
    start = len(data[: location["start_offset"]].decode("utf-8", "ignore"))
    end = len(data[: location["end_offset"]].decode("utf-8", "ignore"))
    return start, max(end, start + 1)


def _finding(
    text: str, starts: Sequence[int], span: tuple[int, int], rule_id: str, hidden: Sequence[tuple[int, int]]
) -> Finding:
    from restante.domain.screening.text import excerpt

    line = sum(1 for one in starts if one <= span[0])
    stop = starts[line] if line < len(starts) else len(text)
    name = rule_id.rpartition(".")[2]
    return Finding(
        code=f"secret.{name.replace('-', '_')}",
        title=f"a secret ({name.replace('-', ' ')})",
        line=line,
        excerpt=excerpt(text, (starts[line - 1], stop), span[0], hidden),
        at=span[0],
        hidden=(span,),
    )
