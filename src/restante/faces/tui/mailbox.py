"""A mailbox: its messages, the newest first; below them the chosen one, with what became of it and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Footer, Static

from restante.domain.letters import threads_of
from restante.domain.lifecycle import Show
from restante.faces.tui.base import PeopleScreen, Rows
from restante.faces.tui.plain import cell, exactly, when
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from restante.domain.letters import Letter, View
    from restante.domain.why import Explanation

_STATE, _FROM, _WHEN = 12, 24, 11
_LEAST_WHAT = 16
_BRANCH = "└ "


class MailboxScreen(PeopleScreen):
    """One mailbox. Looking marks nothing.

    Args:
        address: Whose.
    """

    CSS = "MailboxScreen Rows { height: 40%; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", text("key.read")),
        Binding("w", "write", text("key.write")),
        Binding("y", "why", text("key.why")),
        Binding("f", "filter", text("key.filter")),
        Binding("o", "older", text("key.older")),
        Binding("n", "newest", text("key.newest")),
        Binding("escape", "back", text("key.back")),
    ]

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address
        self._show = Show.ALL
        self._before = 0
        self._view: View | None = None
        self._letters: dict[str, Letter] = {}
        self._whys: dict[str, Explanation] = {}

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        yield Static(id="counts", classes="line", markup=False)
        yield Static(id="notices", classes="line notice", markup=False)
        yield Rows(id="list")
        with VerticalScroll(id="reading"):
            yield Static(id="letter", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Begin in the list."""
        self.query_one("#list").focus()

    async def refill(self) -> None:
        """Show what is to be seen now."""
        before, show = self._before, self._show
        view = await self.ask(lambda ground: ground.view(self._address, before=before, show=show))
        if self.is_attached and (before, show) == (self._before, self._show):
            self._view = view
            self._fill_list(view)

    def action_read(self) -> None:
        """Go to the message, to scroll in it."""
        self.query_one("#reading").focus()

    def action_back(self) -> None:
        """Go from the message to the list, and from there to where one came from."""
        if self.query_one("#reading").has_focus:
            self.query_one("#list").focus()
        else:
            self.app.pop_screen()

    def action_write(self) -> None:
        """Write to this mailbox, in the conversation of the chosen message."""
        from restante.faces.tui.compose import ComposeScreen

        letter = self._chosen()
        conversation = letter.case.entry.message.conversation if letter else ""
        self.app.push_screen(ComposeScreen(self._address, conversation))

    def action_why(self) -> None:
        """Say why nothing happened to the chosen message."""
        letter = self._chosen()
        if letter:
            self.doing(self._explain(letter.case.entry.message.id))

    def action_filter(self) -> None:
        """Show the next kind of messages."""
        kinds = list(Show)
        self._show = kinds[(kinds.index(self._show) + 1) % len(kinds)]
        self._before = 0
        self.stirred()

    def action_older(self) -> None:
        """Go on to older messages."""
        if self._view and self._view.older:
            self._before = self._view.older
            self.stirred()
        else:
            self.app.notify(text("letters.nothing"), markup=False)

    def action_newest(self) -> None:
        """Go back to the newest messages."""
        self._before = 0
        self.stirred()

    def on_data_table_row_selected(self) -> None:
        """Go to the message, to scroll in it."""
        self.action_read()

    def on_data_table_row_highlighted(self) -> None:
        """Show the chosen message."""
        self._show_letter()

    async def _explain(self, message: str) -> None:
        self._whys[message] = await self.ask(lambda ground: ground.why(self._address, message))
        if self.is_attached:
            self._show_letter()
            self.query_one("#reading", VerticalScroll).scroll_home(animate=False)

    def _chosen(self) -> Letter | None:
        return self._letters.get(self.query_one("#list", Rows).chosen)

    def _fill_list(self, view: View) -> None:
        counts = view.counts
        self.put(
            "#counts",
            (text("mailbox.title", name=view.name), "bold"),
            " · ",
            text("mailbox.counts", total=counts.total, unseen=counts.unseen, pending=counts.pending),
            " · ",
            text("letters.show", which=text(f"mailbox.filter.{self._show.value}")),
        )
        self.put("#notices", "\n".join(self._notices(view)))
        width = max(_LEAST_WHAT, self.size.width - _STATE - _FROM - _WHEN - 4 * 2)
        self._letters, lines = {}, []
        for thread in threads_of(view.cases, view.names):
            for place, letter in enumerate(thread.letters):
                message = letter.case.entry.message
                self._letters[message.id] = letter
                lines.append((message.id, self._line(letter, view, width, is_branch=place > 0)))
        columns = [
            (text("letters.state"), _STATE),
            (text("letters.from"), _FROM),
            (text("letters.when"), _WHEN),
            (text("letters.what"), width),
        ]
        self.query_one("#list", Rows).refill(columns, lines)
        self._show_letter()

    def _notices(self, view: View) -> list[str]:
        found = [] if self.people.is_live else [text("live.off")]
        if not view.cases:
            found.append(text("mailbox.none") if self._show is Show.ALL else text("mailbox.nomatch"))
        if self._before:
            found.append(text("letters.later"))
        if view.older:
            found.append(text("letters.older"))
        return found

    def _line(self, letter: Letter, view: View, width: int, *, is_branch: bool) -> list[object]:
        message, standing = letter.case.entry
        style = "bold" if standing.status.value == "unseen" else ""
        what = message.subject or message.body
        return [
            cell(standing.status.value.replace("_", " "), _STATE, style),
            cell(letter.sender, _FROM, style),
            cell(when(message.created, view.now), _WHEN),
            cell((_BRANCH if is_branch else "") + what, width, style),
        ]

    def _show_letter(self) -> None:
        letter, view = self._chosen(), self._view
        if letter is None or view is None:
            self.put("#letter")
            return
        message, standing = letter.case.entry
        meta = (text("mailbox.from", name=letter.sender), message.priority.value, message.scope.value, message.id)
        parts: list[tuple[str, str] | str] = [
            (message.subject or message.id, "bold"),
            ("\n" + " · ".join(meta), "dim"),
        ]
        if why := self._whys.get(message.id):
            parts += [(f"\n\n{text('mailbox.why')}", "bold"), f"\n{why.sentence}"]
            parts += [f"\n  {one}" for one in why.evidence]
            parts += [(f"\n  {why.command}", "bold")] if why.command else []
        parts += [f"\n\n{message.body}\n\n", (text("mailbox.history"), "bold")]
        for step in letter.steps:
            name = " ".join(part for part in (text(f"step.{step.name}"), step.word) if part)
            parts += [f"\n  {name}", (f"  {when(step.at, view.now)}  {exactly(step.at)}", "dim")]
        if standing.summary:
            parts.append(f"\n  {standing.summary}")
        for reply in letter.case.replies:
            parts += [(f"\n{text('mailbox.reply')}", "bold"), (f"  {when(reply.created, view.now)}", "dim")]
            parts.append(f"\n{reply.body}")
        self.put("#letter", *parts)
