"""Who writes to whom, as a small picture of text: an arrow leads from whoever wrote to whoever has not answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from restante.domain.text import one_line
from restante.faces.tui.base import PeopleScreen
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from restante.domain.overview import Row
    from restante.faces.tui.ground import Look

# More arrows than this are a knot that nobody reads.
_MOST_ARROWS = 200
_LONGEST_NAME = 24
# An arrow with its fork takes so much between two names.
_ARROW = 7


def picture_of(rows: Sequence[Row], width: int) -> list[str]:
    """Return the picture as lines; none where nobody waits for anybody.

    A pair that waits for each other has one arrow with two heads, at the one that stands first.

    Args:
        rows: The sessions, in the order in which they shall stand.
        width: The characters of a line.
    """
    room = min(_LONGEST_NAME, (width - _ARROW) // 2)
    names = {row.session.id: one_line(row.session.title, room) for row in rows}
    arrows: dict[str, list[tuple[str, bool]]] = {}
    drawn: set[tuple[str, str]] = set()
    waits = {row.session.id: [one for one in row.waits_for if one in names] for row in rows}
    for one, others in waits.items():
        for other in others:
            if (other, one) not in drawn and len(drawn) < _MOST_ARROWS:
                drawn.add((one, other))
                arrows.setdefault(one, []).append((names[other], one in waits[other]))
    return [line for one, heads in arrows.items() for line in _of_one(names[one], heads)]


def _of_one(name: str, heads: list[tuple[str, bool]]) -> list[str]:
    lines = []
    for number, (other, is_mutual) in enumerate(heads):
        is_last = number == len(heads) - 1
        stem = f"{name} ─" if number == 0 else " " * (len(name) + 2)
        fork = ("─" if is_last else "┬") if number == 0 else "└" if is_last else "├"
        lines.append(f"{stem}{fork}{'◀─▶' if is_mutual else '──▶'} {other}")
    return lines


class PictureScreen(PeopleScreen):
    """The picture of all sessions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", text("key.help"), key_display="?"),
        Binding("escape", "back", text("key.back")),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        yield Static(text("overview.who"), id="title", classes="line", markup=False)
        yield Static(id="notices", classes="line notice", markup=False)
        with VerticalScroll(id="reading"):
            yield Static(id="letter", markup=False)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Let it be scrolled."""
        self.query_one("#reading").focus()

    async def refill(self) -> None:
        """Show who waits for whom now."""
        self._look = await self.ask(lambda ground: ground.look())
        if self.is_attached:
            self.show()

    def show(self) -> None:
        """Draw it."""
        look = self._look
        if look is None:
            return
        drawn = picture_of(look.rows, self.size.width - 2)
        pairs = [text("overview.pairs", one=one, other=other) for one, other in look.pairs]
        self.put("#notices", "\n".join(pairs))
        self.put(
            "#letter", "\n".join(drawn) or text("overview.who.nobody"), (f"\n\n{text('overview.who.text')}", "dim")
        )

    def action_back(self) -> None:
        """Go back to where one came from."""
        self.app.pop_screen()
