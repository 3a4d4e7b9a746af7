"""Guidance that is posted again and again, in all worktrees that are known: pausing, resuming, removing it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from restante.domain.duration import format_duration
from restante.faces.tui import around
from restante.faces.tui.asking import AskScreen
from restante.faces.tui.base import ListScreen
from restante.faces.tui.plain import cell, exactly, fitted, when
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from textual.binding import BindingType

    from restante.domain.repeat import Repeat
    from restante.faces.tui.around import Repeats

# What the columns beside the last one want, and the least that each can do with.
_EVERY, _STATE, _TREE = (12, 9), (8, 7), (20, 10)
_LEAST_TEXT = 16


class RepeatsScreen(ListScreen):
    """All repeats."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "turn", text("key.pause")),
        Binding("x", "remove", text("repeats.remove")),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._kept: Repeats | None = None
        self._lines: dict[str, tuple[str, Repeat]] = {}

    async def refill(self) -> None:
        """Show the repeats that there are now."""
        kept = await self.ask(around.repeats)
        if self.is_attached:
            self._kept, self._lines = kept, {f"{one.id} {path}": (path, one) for path, one in kept.found}
            self.show()

    def show(self) -> None:
        """Show them."""
        self.put("#title", text("repeats.title"))
        if self._kept is None:
            return
        every, state, tree, rest = widths = fitted(self.room, _EVERY, _STATE, _TREE, rest=_LEAST_TEXT)
        lines: list[tuple[str, list[object]]] = [
            (
                key,
                [
                    cell(_interval(one), every),
                    cell(_state(one), state),
                    cell(path.rpartition("/")[2] or path, tree),
                    cell(one.body, rest),
                ],
            )
            for key, (path, one) in self._lines.items()
        ]
        titles = [text(one) for one in ("repeats.how", "overview.state", "overview.worktree", "compose.text")]
        self.rows.refill(list(zip(titles, widths, strict=True)), lines)
        said = [] if self._lines else [text("repeats.none")]
        self.put("#notices", "\n".join([*said, *self._kept.problems]))
        self.show_chosen()

    def show_chosen(self) -> None:
        """Show the whole text of the chosen one, and when it is posted."""
        chosen, kept = self._lines.get(self.rows.chosen), self._kept
        if chosen is None or kept is None:
            self.put("#letter")
            return
        path, one = chosen
        sent = text("repeats.sent", count=one.sent_count)
        last = f" · {when(one.last_sent, kept.now)}" if one.last_sent else ""
        meta = f"{_interval(one)} · {_state(one)} · {sent}{last} · {one.id}\n{path}"
        due = text("repeats.next", time=exactly(one.next_run)) if one.active else text("repeats.rests")
        self.put("#letter", (meta, "dim"), f"\n{due}\n\n{one.body}")

    def action_turn(self) -> None:
        """Pause the chosen one, or resume it."""
        if chosen := self._lines.get(self.rows.chosen):
            path, one = chosen
            self.doing(self._change(path, one.id, "pause" if one.active else "resume"))

    def action_remove(self) -> None:
        """Ask, and remove the chosen one."""
        chosen = self._lines.get(self.rows.chosen)
        if chosen is None:
            return
        path, one = chosen

        def go_on(is_sure: bool | None) -> None:
            if is_sure:
                self.doing(self._change(path, one.id, "remove"))

        self.app.push_screen(AskScreen(text("repeats.ask"), text("repeats.ask.text")), go_on)

    async def _change(self, path: str, repeat: str, action: str) -> None:
        await self.ask(lambda ground: around.change(ground, path, repeat, action))
        self.stirred()


def _interval(one: Repeat) -> str:
    return text("repeats.every", interval=format_duration(timedelta(milliseconds=one.interval_ms)))


def _state(one: Repeat) -> str:
    return text("repeats.active") if one.active else text("repeats.paused")
