"""Which mailboxes are watched, for which session, whether anybody listens, and what really happens when mail comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from restante.domain.registry import brief
from restante.faces.tui import around
from restante.faces.tui.asking import AskScreen
from restante.faces.tui.base import ListScreen
from restante.faces.tui.plain import cell, exactly, fitted, when
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from textual.binding import BindingType

    from restante.domain.outlook import Outlook
    from restante.faces.tui.around import Monitors

# What the columns beside the last one want, and the least that each can do with.
_SESSION, _STATE, _HEARING = (18, 10), (10, 8), (16, 8)
_LEAST_MAILBOX = 16


class MonitorsScreen(ListScreen):
    """All monitors, and how they stand."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "stop", text("monitors.stop"))]

    def __init__(self) -> None:
        super().__init__()
        self._found: Monitors | None = None
        self._lines: dict[str, Outlook] = {}

    async def refill(self) -> None:
        """Show how they stand now."""
        found = await self.ask(around.monitors)
        if self.is_attached:
            self._found, self._lines = found, {one.mailbox: one for one in found.found}
            self.show()

    def show(self) -> None:
        """Show them."""
        self.put("#title", text("monitors.title"))
        found = self._found
        if found is None:
            return
        session, state, hearing, rest = widths = fitted(self.room, _SESSION, _STATE, _HEARING, rest=_LEAST_MAILBOX)
        lines: list[tuple[str, list[object]]] = [
            (
                one.mailbox,
                [
                    cell(_session_of(one, found), session),
                    cell(one.monitor.state.value if one.monitor else "", state),
                    cell(text(f"hearing.{one.hearing.value}"), hearing),
                    cell(one.mailbox, rest),
                ],
            )
            for one in self._lines.values()
        ]
        titles = [text(one) for one in ("overview.session", "monitors.state", "monitors.receiver", "monitors.mailbox")]
        self.rows.refill(list(zip(titles, widths, strict=True)), lines)
        self.put("#notices", found.problem or ("" if self._lines else text("monitors.none")))
        self.show_chosen()

    def show_chosen(self) -> None:
        """Say all that is known of the chosen one."""
        one, found = self._lines.get(self.rows.chosen), self._found
        if one is None or found is None:
            self.put("#letter")
            return
        parts: list[tuple[str, str] | str] = [(one.mailbox, "bold")]
        monitor = one.monitor
        if monitor:
            parts.append((f"\n{_session_of(one, found)} · {monitor.adapter} · {monitor.session}", "dim"))
        reason = f": {one.reason}" if one.reason else ""
        parts += [f"\n\n{text('monitors.mode')}: ", (text(f"mode.{one.mode.value}"), "bold"), reason]
        parts.append(f"\n{text('monitors.receiver')}: {text(f'hearing.{one.hearing.value}')}")
        if monitor and monitor.heartbeat:
            parts.append(f", {when(monitor.heartbeat, found.now)} ({exactly(monitor.heartbeat)})")
        if sight := one.sight:
            told = text("monitors.sight", unseen=sight.unseen, noticed=sight.noticed, mark=sight.mark)
            parts.append(f"\n{text('monitors.numbers')}: {told}")
        parts += [f"\n{said}" for said in (one.trouble, monitor.last_error if monitor else "") if said]
        self.put("#letter", *parts)

    def action_stop(self) -> None:
        """Ask, and stop watching the chosen mailbox."""
        mailbox = self.rows.chosen
        if not mailbox:
            return

        def go_on(is_sure: bool | None) -> None:
            if is_sure:
                self.doing(self._stop(mailbox))

        self.app.push_screen(AskScreen(text("monitors.ask"), text("monitors.ask.text", mailbox=mailbox)), go_on)

    async def _stop(self, mailbox: str) -> None:
        await self.ask(lambda ground: around.stop(ground, mailbox))
        self.stirred()


def _session_of(one: Outlook, found: Monitors) -> str:
    return found.names.get(one.monitor.session, brief(one.monitor.session)) if one.monitor else ""
