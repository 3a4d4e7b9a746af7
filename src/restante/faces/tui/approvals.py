"""What waits for a person before work may start or go on; a decision is asked for once more before it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, Label, Select, Static

from restante.faces.tui.base import PeopleScreen, Rows
from restante.faces.tui.plain import PRINTABLE, body, cell, exactly, when
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from datetime import datetime

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from restante.wiring.approvals import Waiting

_AGENT, _FROM, _WHEN = 14, 18, 11
_LEAST_WHAT = 16
# The note and the word on a grant; ``None`` for going back.
Decided = tuple[str, str] | None


class ApprovalsScreen(PeopleScreen):
    """The list of what waits, the oldest first, and below it all that is known of the chosen one."""

    CSS = "ApprovalsScreen Rows { height: 30%; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", text("key.read")),
        Binding("a", "decide('approved')", text("key.approve")),
        Binding("m", "decide('modified')", text("key.modify")),
        Binding("d", "decide('declined')", text("key.decline")),
        Binding("escape", "back", text("key.back")),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, Waiting] = {}
        self._now: datetime | None = None

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        yield Static(text("approvals.title"), id="title", classes="line", markup=False)
        yield Static(id="notices", classes="line notice", markup=False)
        yield Rows(id="list")
        with VerticalScroll(id="reading"):
            yield Static(id="letter", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Begin in the list."""
        self.query_one("#list").focus()

    async def refill(self) -> None:
        """Show what waits now."""
        found, now = await self.ask(lambda ground: ground.approvals())
        if not self.is_attached:
            return
        self._found, self._now = {one.key: one for one in found}, now
        width = max(_LEAST_WHAT, self.size.width - _AGENT - _FROM - _WHEN - 4 * 2)
        lines: list[tuple[str, list[object]]] = [
            (
                one.key,
                [
                    cell(one.agent, _AGENT),
                    cell(one.paused.sender, _FROM),
                    cell(when(one.paused.since, now), _WHEN),
                    cell(one.paused.subject or one.paused.message_id, width),
                ],
            )
            for one in found
        ]
        columns = [
            (text("approvals.agent"), _AGENT),
            (text("letters.from"), _FROM),
            (text("letters.when"), _WHEN),
            (text("letters.what"), width),
        ]
        self.query_one("#list", Rows).refill(columns, lines)
        if not found:
            self.put("#notices", text("approvals.none"))
        self._show_chosen()

    def action_read(self) -> None:
        """Go to what is known, to scroll in it."""
        self.query_one("#reading").focus()

    def action_back(self) -> None:
        """Go back to the list, and from there to where one came from."""
        if self.query_one("#reading").has_focus:
            self.query_one("#list").focus()
        else:
            self.app.pop_screen()

    def action_decide(self, decision: str) -> None:
        """Ask once more, and write the decision down.

        Args:
            decision: One of ``wiring.approvals.DECISIONS``.
        """
        one = self._found.get(self.query_one("#list", Rows).chosen)
        if one is None:
            return

        def write(decided: Decided) -> None:
            if decided is not None:
                self.doing(self._write(one.key, decision, *decided))

        self.app.push_screen(DecideScreen(decision, one), write)

    def on_data_table_row_selected(self) -> None:
        """Go to what is known, to scroll in it."""
        self.action_read()

    def on_data_table_row_highlighted(self) -> None:
        """Show what is known of the chosen one."""
        self._show_chosen()

    async def _write(self, key: str, decision: str, note: str, grant: str) -> None:
        await self.ask(lambda ground: ground.decide(key, decision, note, grant))
        if self.is_attached:
            self.put("#notices", text(f"approvals.done.{decision}"))
            self.stirred()

    def _show_chosen(self) -> None:
        one, now = self._found.get(self.query_one("#list", Rows).chosen), self._now
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
        with Vertical():
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
