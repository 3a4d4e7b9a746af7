"""The first screen: who deserves a look, the most urgent first; roles, worktrees, and what waits for an approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Footer, Input, Static

from restante.domain.overview import Reason
from restante.faces.tui.base import PeopleScreen, Rows
from restante.faces.tui.plain import PRINTABLE, cell, when
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from restante.domain.overview import Row
    from restante.domain.team import Seat
    from restante.faces.tui.ground import Look

_MOST_ROWS = 500
# Widths beside the last column, which takes what is left; each cell has a blank on both sides.
_NAME, _STATE, _MAIL, _OLDEST = 20, 14, 6, 10
_LEAST_WHY = 16
_STYLES = {Reason.BLOCKED: "bold red", Reason.INBOX_UNREAD: "bold yellow", Reason.INBOX_UNACKED: "yellow"}


class OverviewScreen(PeopleScreen):
    """Sessions, roles and worktrees in one list, each with its mailbox behind it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", text("key.open"), priority=False),
        Binding("w", "write", text("key.write")),
        Binding("a", "approvals", text("key.approvals")),
        Binding("slash", "filter", text("key.filter"), key_display="/"),
        Binding("r", "again", text("key.again")),
        Binding("q", "app.quit", text("key.quit")),
        Binding("escape", "unfilter", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._details: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        yield Static(id="counts", classes="line", markup=False)
        yield Static(id="notices", classes="line notice", markup=False)
        yield Input(id="filter", compact=True, placeholder=text("overview.filter"), restrict=PRINTABLE)
        yield Rows(id="list")
        yield Static(id="detail", classes="line", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Begin in the list."""
        self.query_one("#filter").display = False
        self.query_one("#list").focus()

    async def refill(self) -> None:
        """Show what is to be seen now."""
        wanted = self.query_one("#filter", Input).value
        look = await self.ask(lambda ground: ground.look(wanted))
        if not self.is_attached:
            return
        self._look = look
        self._show(look, wanted)

    def action_open(self) -> None:
        """Open the mailbox of what is chosen."""
        from restante.faces.tui.mailbox import MailboxScreen

        if address := self.query_one("#list", Rows).chosen:
            self.app.push_screen(MailboxScreen(address))

    def action_write(self) -> None:
        """Write to what is chosen."""
        from restante.faces.tui.compose import ComposeScreen

        self.app.push_screen(ComposeScreen(self.query_one("#list", Rows).chosen))

    def action_approvals(self) -> None:
        """Go to what waits for an approval."""
        from restante.faces.tui.approvals import ApprovalsScreen

        self.app.push_screen(ApprovalsScreen())

    def action_filter(self) -> None:
        """Ask for words."""
        field = self.query_one("#filter", Input)
        field.display = True
        field.focus()

    def action_unfilter(self) -> None:
        """Show everything again."""
        field = self.query_one("#filter", Input)
        field.value = ""
        field.display = False
        self.query_one("#list").focus()

    def action_again(self) -> None:
        """Look again now."""
        self.stirred()

    def on_input_changed(self) -> None:
        """Show what fits while one types."""
        self.stirred()

    def on_input_submitted(self) -> None:
        """Go to the list."""
        self.query_one("#filter").display = bool(self.query_one("#filter", Input).value)
        self.query_one("#list").focus()

    def on_data_table_row_selected(self) -> None:
        """Open the mailbox of the row."""
        self.action_open()

    def on_data_table_row_highlighted(self) -> None:
        """Tell more of the row."""
        self.put("#detail", self._details.get(self.query_one("#list", Rows).chosen, ""))

    def on_resize(self) -> None:
        """Fill the width that there is now."""
        if self._look:
            self._show(self._look, self.query_one("#filter", Input).value)

    def _show(self, look: Look, wanted: str) -> None:
        everything = look.everything
        self.put(
            "#counts",
            text(
                "overview.counts",
                sessions=len(everything),
                unseen=sum(row.counts.unseen for row in everything),
                pending=sum(row.counts.pending for row in everything),
            ),
            f" · {text('list.filtered', words=wanted)}" if wanted else "",
        )
        self.put("#notices", "\n".join(self._notices(look)))
        width = max(_LEAST_WHY, self.size.width - _NAME - _STATE - _MAIL - _OLDEST - 5 * 2)
        lines = [(row.session.address, self._of_session(row, look, width)) for row in look.rows[:_MOST_ROWS]]
        lines += [(seat.member.role, self._of_role(seat, look, width)) for seat in look.seats]
        lines += [(f"worktree:{one}", self._of_worktree(one, width)) for one in look.worktrees]
        self._details = {row.session.address: _detail(row) for row in look.rows[:_MOST_ROWS]}
        columns = [
            (text("overview.session"), _NAME),
            (text("overview.state"), _STATE),
            (text("overview.mail"), _MAIL),
            (text("list.oldest"), _OLDEST),
            (text("overview.why"), width),
        ]
        self.query_one("#list", Rows).refill(columns, lines)
        self.on_data_table_row_highlighted()

    def _notices(self, look: Look) -> list[str]:
        found = [] if self.people.is_live else [text("live.off")]
        if look.waiting:
            found.append(text("list.approvals", count=look.waiting))
        found += [text("overview.pairs", one=one, other=other) for one, other in look.pairs]
        if not look.everything:
            found.append(text("overview.none"))
        if len(look.rows) > _MOST_ROWS:
            found.append(text("list.left", count=len(look.rows) - _MOST_ROWS))
        return [*found, *look.problems]

    def _of_session(self, row: Row, look: Look, width: int) -> list[object]:
        state = text("state.parked") if row.is_parked else text(f"state.{row.state}")
        reason = _reason(row)
        style = _STYLES.get(row.reason, "") if row.reason else ""
        counts = row.counts
        return [
            cell(row.session.title, _NAME, style),
            cell(state, _STATE, style),
            cell(f"{counts.unseen}/{counts.pending}", _MAIL, style),
            cell(when(counts.oldest_unseen, look.now), _OLDEST),
            cell(reason, width, style),
        ]

    def _of_role(self, seat: Seat, look: Look, width: int) -> list[object]:
        lease = seat.member.lease
        holder = text("around.nobody")
        if lease and seat.is_held:
            holder = text("list.held", name=seat.name or lease.session)
        elif lease and seat.standing:
            holder = text("around.lost", why=seat.standing.value)
        return [
            cell(seat.member.role, _NAME),
            cell(text("list.role"), _STATE),
            cell(f"{seat.counts.unseen}/{seat.counts.pending}", _MAIL),
            cell(when(seat.counts.oldest_unseen, look.now), _OLDEST),
            cell(holder, width),
        ]

    def _of_worktree(self, path: str, width: int) -> list[object]:
        name = path.rpartition("/")[2] or path
        return [cell(name, _NAME), cell(text("list.worktree"), _STATE), "", "", cell(path, width)]


def _detail(row: Row) -> str:
    session = row.session
    return " · ".join(part for part in (_reason(row), session.id, session.vendor, session.worktree) if part)


def _reason(row: Row) -> str:
    return text(f"reason.{row.reason.value}", blocked=row.session.blocked) if row.reason else ""
