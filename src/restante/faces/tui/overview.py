"""The first screen: who deserves a look, the most urgent first; roles, worktrees, and what waits for an approval."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Footer, Input, Static

from restante.domain.overview import Reason
from restante.faces.tui.base import PeopleScreen, Rows
from restante.faces.tui.plain import PRINTABLE, cell, fitted, when
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from restante.domain.overview import Row
    from restante.domain.team import Seat
    from restante.faces.tui.ground import Look

_MOST_ROWS = 500
# What the columns beside the last one want, and the least that each can do with.
_NAME, _STATE, _MAIL, _OLDEST = (20, 14), (14, 9), (6, 5), (10, 0)
_LEAST_WHY = 16
_STYLES = {Reason.BLOCKED: "bold red", Reason.INBOX_UNREAD: "bold yellow", Reason.INBOX_UNACKED: "yellow"}


class OverviewScreen(PeopleScreen):
    """Sessions, roles and worktrees in one list, each with its mailbox behind it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", text("key.open"), show=False),
        Binding("w", "write", text("key.write")),
        Binding("a", "approvals", text("key.approvals")),
        Binding("slash", "filter", text("key.filter"), key_display="/"),
        Binding("p", "visit('picture')", text("overview.who"), show=False),
        Binding("e", "visit('repeats')", text("nav.repeats"), show=False),
        Binding("m", "visit('monitors')", text("nav.monitors"), show=False),
        Binding("s", "visit('options')", text("nav.settings"), show=False),
        Binding("r", "again", text("key.again"), show=False),
        Binding("question_mark", "help", text("key.help"), key_display="?"),
        Binding("q", "app.quit", text("key.quit")),
        Binding("escape", "unfilter", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._wanted = ""
        self._details: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        yield Static(id="counts", classes="line", markup=False)
        yield Static(id="notices", classes="line notice", markup=False)
        yield Input(id="filter", compact=True, placeholder=text("overview.filter"), restrict=PRINTABLE)
        yield Rows(id="list")
        yield Static(id="detail", classes="line", markup=False)
        yield Footer(compact=True)

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
        self._look, self._wanted = look, wanted
        self.show()

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

    def action_visit(self, which: str) -> None:
        """Go to another screen.

        Args:
            which: The module of the screen.
        """
        from restante.faces.tui.monitors import MonitorsScreen
        from restante.faces.tui.options import OptionsScreen
        from restante.faces.tui.picture import PictureScreen
        from restante.faces.tui.repeats import RepeatsScreen

        screens = {
            "picture": PictureScreen,
            "repeats": RepeatsScreen,
            "monitors": MonitorsScreen,
            "options": OptionsScreen,
        }
        self.app.push_screen(screens[which]())

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

    def show(self) -> None:
        """Show what was seen."""
        look, wanted = self._look, self._wanted
        if look is None:
            return
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
        widths = fitted(self.room, _NAME, _STATE, _MAIL, _OLDEST, rest=_LEAST_WHY)
        lines = [(row.session.address, self._of_session(row, look, widths)) for row in look.rows[:_MOST_ROWS]]
        lines += [(seat.member.role, self._of_role(seat, look, widths)) for seat in look.seats]
        lines += [(f"worktree:{one}", self._of_worktree(one, widths)) for one in look.worktrees]
        self._details = {row.session.address: _detail(row) for row in look.rows[:_MOST_ROWS]}
        names = ("overview.session", "overview.state", "overview.mail", "list.oldest", "overview.why")
        self.query_one("#list", Rows).refill(list(zip(map(text, names), widths, strict=True)), lines)
        self.on_data_table_row_highlighted()

    def _notices(self, look: Look) -> list[str]:
        found = [] if self.people.is_live else [text("live.off")]
        if look.waiting:
            found.append(text("list.approvals", count=look.waiting))
        if look.troubled:
            found.append(text("list.troubled", count=len(look.troubled)))
        found += [text("overview.pairs", one=one, other=other) for one, other in look.pairs]
        if not look.everything:
            found.append(text("overview.none"))
        if len(look.rows) > _MOST_ROWS:
            found.append(text("list.left", count=len(look.rows) - _MOST_ROWS))
        return [*found, *look.problems]

    def _of_session(self, row: Row, look: Look, widths: list[int]) -> list[object]:
        state = text("state.parked") if row.is_parked else text(f"state.{row.state}")
        reason = _reason(row)
        style = _STYLES.get(row.reason, "") if row.reason else ""
        # With that of its roles: whoever idles with either is waited for. Below the list it is told which is which.
        mail = f"{row.counts.unseen + row.role_unseen}/{row.counts.pending + row.role_pending}"
        oldest = when(row.oldest_unseen, look.now)
        styles = (style, style, style, "", style)
        return _cells((row.session.title, state, mail, oldest, reason), widths, styles)

    def _of_role(self, seat: Seat, look: Look, widths: list[int]) -> list[object]:
        lease = seat.member.lease
        holder = text("around.nobody")
        if lease and seat.is_held:
            holder = text("list.held", name=seat.name or lease.session)
        elif lease and seat.standing:
            holder = text("around.lost", why=seat.standing.value)
        mail = f"{seat.counts.unseen}/{seat.counts.pending}"
        oldest = when(seat.counts.oldest_unseen, look.now)
        return _cells((seat.member.role, text("list.role"), mail, oldest, holder), widths)

    def _of_worktree(self, path: str, widths: list[int]) -> list[object]:
        name = path.rpartition("/")[2] or path
        return _cells((name, text("list.worktree"), "", "", path), widths)


def _cells(texts: tuple[str, ...], widths: list[int], styles: tuple[str, ...] = ("",) * 5) -> list[object]:
    return [cell(*one) for one in zip(texts, widths, styles, strict=True)]


def _detail(row: Row) -> str:
    session = row.session
    of_roles = [f"{one.role} {one.counts.unseen}/{one.counts.pending}" for one in row.roles if one.counts.pending]
    parts = (_reason(row), *of_roles, session.id, session.vendor, session.worktree)
    return " · ".join(part for part in parts if part)


def _reason(row: Row) -> str:
    return text(f"reason.{row.reason.value}", blocked=row.session.blocked) if row.reason else ""
