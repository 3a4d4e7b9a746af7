"""A mailbox: its messages, the newest first; below them the chosen one, with what became of it and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll

from restante.domain.letters import threads_of
from restante.domain.lifecycle import Show
from restante.faces.tui.base import ListScreen
from restante.faces.tui.plain import cell, dump, exactly, fitted, when
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from textual.binding import BindingType

    from restante.domain.letters import Letter, View
    from restante.domain.why import Explanation

# What the columns beside the last one want, and the least that each can do with.
_STATE, _FROM, _WHEN = (12, 12), (24, 12), (11, 10)
_LEAST_WHAT = 16
_BRANCH = "└ "


class MailboxScreen(ListScreen):
    """One mailbox. Looking marks nothing.

    Args:
        address: Whose.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "write", text("key.write")),
        Binding("y", "why", text("key.why")),
        Binding("b", "raw", text("key.raw")),
        Binding("f", "filter", text("key.filter")),
        Binding("o", "older", text("key.older"), show=False),
        Binding("n", "newest", text("key.newest"), show=False),
    ]

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address
        self._show = Show.ALL
        self._before = 0
        self._view: View | None = None
        self._letters: dict[str, Letter] = {}
        self._whys: dict[str, Explanation] = {}
        self._is_raw = False

    async def refill(self) -> None:
        """Show what is to be seen now."""
        before, show = self._before, self._show
        view = await self.ask(lambda ground: ground.view(self._address, before=before, show=show))
        if self.is_attached and (before, show) == (self._before, self._show):
            self._view = view
            self.show()

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

    def action_raw(self) -> None:
        """Show messages as bytes, or as texts again."""
        self._is_raw = not self._is_raw
        self.show_chosen()
        self._go_home()

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

    async def _explain(self, message: str) -> None:
        self._whys[message] = await self.ask(lambda ground: ground.why(self._address, message))
        if self.is_attached:
            self.show_chosen()
            self._go_home()

    def _go_home(self) -> None:
        self.query_one("#reading", VerticalScroll).scroll_home(animate=False)

    def _chosen(self) -> Letter | None:
        return self._letters.get(self.rows.chosen)

    def show(self) -> None:
        """Show the messages, those of one conversation together."""
        view = self._view
        if view is None:
            return
        counts = view.counts
        self.put(
            "#title",
            (text("mailbox.title", name=view.name), "bold"),
            " · ",
            text("mailbox.counts", total=counts.total, unseen=counts.unseen, pending=counts.pending),
            " · ",
            text("letters.show", which=text(f"mailbox.filter.{self._show.value}")),
        )
        self.put("#notices", "\n".join(self._notices(view)))
        widths = fitted(self.room, _STATE, _FROM, _WHEN, rest=_LEAST_WHAT)
        self._letters, lines = {}, []
        for thread in threads_of(view.cases, view.names):
            for place, letter in enumerate(thread.letters):
                message = letter.case.entry.message
                self._letters[message.id] = letter
                lines.append((message.id, self._line(letter, view, widths, is_branch=place > 0)))
        titles = [text(f"letters.{name}") for name in ("state", "from", "when", "what")]
        self.rows.refill(list(zip(titles, widths, strict=True)), lines)
        self.show_chosen()

    def _notices(self, view: View) -> list[str]:
        found = [] if self.people.is_live else [text("live.off")]
        if not view.cases:
            found.append(text("mailbox.none") if self._show is Show.ALL else text("mailbox.nomatch"))
        if self._before:
            found.append(text("letters.later"))
        if view.older:
            found.append(text("letters.older"))
        return found

    def _line(self, letter: Letter, view: View, widths: list[int], *, is_branch: bool) -> list[object]:
        message, standing = letter.case.entry
        style = "bold" if standing.status.value == "unseen" else ""
        what = message.subject or message.body
        state, sender, since, rest = widths
        return [
            cell(standing.status.value.replace("_", " "), state, style),
            cell(letter.sender, sender, style),
            cell(when(message.created, view.now), since),
            cell((_BRANCH if is_branch else "") + what, rest, style),
        ]

    def show_chosen(self) -> None:
        """Show the chosen message: its text, or its bytes, and what became of it."""
        letter, view = self._chosen(), self._view
        if letter is None or view is None:
            self.put("#letter")
            return
        message, standing = letter.case.entry
        meta = [text("mailbox.from", name=letter.sender), message.priority.value, message.scope.value]
        meta += [message.id] if message.subject else []
        parts: list[tuple[str, str] | str] = [
            (message.subject or message.id, "bold"),
            ("\n" + " · ".join(meta), "dim"),
        ]
        if why := self._whys.get(message.id):
            parts += [(f"\n\n{text('mailbox.why')}", "bold"), f"\n{why.sentence}"]
            parts += [f"\n  {one}" for one in why.evidence]
            parts += [(f"\n  {why.command}", "bold")] if why.command else []
        parts += [f"\n\n{self._body_of(message.body)}\n\n", (text("mailbox.history"), "bold")]
        for step in letter.steps:
            name = " ".join(part for part in (text(f"step.{step.name}"), step.word) if part)
            parts += [f"\n  {name}", (f"  {when(step.at, view.now)}  {exactly(step.at)}", "dim")]
        if standing.summary:
            parts.append(f"\n  {standing.summary}")
        for reply in letter.case.replies:
            parts += [(f"\n{text('mailbox.reply')}", "bold"), (f"  {when(reply.created, view.now)}", "dim")]
            parts.append(f"\n{reply.body}")
        self.put("#letter", *parts)

    def _body_of(self, written: str) -> str:
        if not self._is_raw:
            return written
        data = written.encode("utf-8", "surrogatepass")
        return f"{text('mailbox.bytes', count=len(data))}\n{dump(data, self.size.width - 4)}"
