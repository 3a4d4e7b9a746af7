"""What waits for a person before work may start or go on; a decision is asked for once more before it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Select, Static

from restante.faces.tui import around
from restante.faces.tui.base import ListScreen
from restante.faces.tui.plain import PRINTABLE, body, cell, exactly, fitted, when
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from datetime import datetime

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from restante.wiring.approvals import Waiting

# What the columns beside the last one want, and the least that each can do with.
_AGENT, _FROM, _WHEN = (14, 10), (18, 10), (11, 10)
_LEAST_WHAT = 16
# The note and the word on a grant; ``None`` for going back.
Decided = tuple[str, str] | None


class ApprovalsScreen(ListScreen):
    """The list of what waits, the oldest first, and below it all that is known of the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "decide('approved')", text("key.approve")),
        Binding("m", "decide('modified')", text("key.modify")),
        Binding("d", "decide('declined')", text("key.decline")),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, Waiting] = {}
        self._now: datetime | None = None
        self._done = ""

    async def refill(self) -> None:
        """Show what waits now."""
        found, now = await self.ask(around.waiting)
        if self.is_attached:
            self._found, self._now = {one.key: one for one in found}, now
            self.show()

    def show(self) -> None:
        """Show what waits."""
        self.put("#title", text("approvals.title"))
        now = self._now
        if now is None:
            return
        agent, sender, since, rest = widths = fitted(self.room, _AGENT, _FROM, _WHEN, rest=_LEAST_WHAT)
        lines: list[tuple[str, list[object]]] = [
            (
                one.key,
                [
                    cell(one.agent, agent),
                    cell(one.paused.sender, sender),
                    cell(when(one.paused.since, now), since),
                    cell(one.paused.subject or one.paused.message_id, rest),
                ],
            )
            for one in self._found.values()
        ]
        titles = [text(one) for one in ("approvals.agent", "letters.from", "letters.when", "letters.what")]
        self.rows.refill(list(zip(titles, widths, strict=True)), lines)
        said = [self._done, "" if self._found else text("approvals.none")]
        self.put("#notices", "\n".join(one for one in said if one))
        self.show_chosen()

    def action_decide(self, decision: str) -> None:
        """Ask once more, and write the decision down.

        Args:
            decision: One of ``wiring.approvals.DECISIONS``.
        """
        one = self._found.get(self.rows.chosen)
        if one is None:
            return

        def write(decided: Decided) -> None:
            if decided is not None:
                self.doing(self._write(one.key, decision, *decided))

        self.app.push_screen(DecideScreen(decision, one), write)

    async def _write(self, key: str, decision: str, note: str, grant: str) -> None:
        await self.ask(lambda ground: around.decide(ground, key, decision, note, grant))
        if self.is_attached:
            self._done = text(f"approvals.done.{decision}")
            self.stirred()

    def show_chosen(self) -> None:
        """Say all that is known of the chosen one."""
        one, now = self._found.get(self.rows.chosen), self._now
        if one is None or now is None:
            self.put("#letter")
            return
        paused = one.paused
        asks = text("approvals.asks", sender=paused.sender, agent=one.agent, kind=paused.kind)
        stage, since = text(f"approvals.stage.{paused.stage}"), f"{when(paused.since, now)} {exactly(paused.since)}"
        parts: list[tuple[str, str] | str] = [
            (paused.subject or paused.message_id, "bold"),
            (f"\n{asks} · {stage} · {since} · {paused.message_id}", "dim"),
            (f"\n\n{text('approvals.because')}", "bold"),
        ]
        for code, meaning in paused.reasons:
            parts += [f"\n  {meaning}", (f"  {code}", "dim")]
        parts += [f"\n  {text('approvals.exceeded', name=name)}" for name in paused.breached]
        if one.limits:
            parts.append((f"\n\n{text('approvals.limits')}", "bold"))
            parts += [f"\n  {name}: {declared or '-'} / {limit}" for name, declared, limit in one.limits]
        parts += [(f"\n\n{text('approvals.effects')}", "bold"), f"\n{text('approvals.effects.text')}"]
        parts += [(f"\n\n{text('approvals.record')}", "bold"), f"\n{one.record}"]
        self.put("#letter", *parts)


class DecideScreen(ModalScreen[Decided]):
    """The second look before a decision is written: what it is about, the note, and the grant where one is asked for.

    Args:
        decision: What was decided.
        one: About what.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", text("key.back"))]

    def __init__(self, decision: str, one: Waiting) -> None:
        super().__init__()
        self._decision = decision
        self._one = one

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        paused = self._one.paused
        with Vertical(classes="over"):
            yield Static(body((text(f"decide.{self._decision}"), "bold")), markup=False)
            yield Static(body(f"{paused.subject or paused.message_id}\n"), markup=False)
            if paused.asks_grant:
                yield Label(text("approvals.grant"), markup=False)
                words = [(text(f"approvals.grant.{word}"), word) for word in ("denied", "approved")]
                yield Select(words, id="grant", value="denied", allow_blank=False, compact=True)
            with Horizontal(classes="field"):
                yield Label(text("decide.note"), classes="label", markup=False)
                yield Input(id="note", compact=True, restrict=PRINTABLE)
            yield Static(text("decide.how"), id="how", markup=False)

    def on_mount(self) -> None:
        """Begin with the note."""
        self.query_one("#note").focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the decision."""
        if self._decision == "modified" and not event.value.strip():
            # It would be refused, and what was typed so far would be gone.
            self.query_one("#how", Static).update(text("decide.needs"))
            return
        grant = str(self.query_one("#grant", Select).value) if self._one.paused.asks_grant else ""
        self.dismiss((event.value, grant))
