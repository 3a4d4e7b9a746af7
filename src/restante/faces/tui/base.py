"""What every screen does: ask in the thread beside, look again when told to, say what went wrong, tell its keys."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from rich.text import Text
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Static

from restante.domain.errors import RestanteError, Unreachable
from restante.faces.tui.plain import body, words_of
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from restante.faces.tui.app import PeopleApp
    from restante.faces.tui.ground import Ground

_Result = TypeVar("_Result")
# A screen that looks again more often than this shows no more to a person.
_PAUSE_SECONDS = 0.25
_HELP_KEY = "f1"


class PeopleScreen(Screen[None]):
    """One screen; ``refill`` asks what it shows, ``show`` shows it in the width that there is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Where one types, a question mark is a letter.
        Binding(_HELP_KEY, "help", text("key.help"), show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._is_due = False
        self._is_filling = False

    async def refill(self) -> None:
        """Show what is to be seen now."""

    def show(self) -> None:
        """Show again what was asked last, as the screen may have another width now."""

    @property
    def people(self) -> PeopleApp:
        """The program."""
        return cast("PeopleApp", self.app)

    @property
    def room(self) -> int:
        """How many characters a line of a table has, beside its scroll bar."""
        return self.size.width - 1

    async def ask(self, work: Callable[[Ground], _Result]) -> _Result:
        """Ask something in the thread beside.

        Args:
            work: What to ask.

        Raises:
            RestanteError: Whatever it raises.
        """
        return await self.people.ask(work)

    def stirred(self) -> None:
        """Look again, soon; asked for again and again, it is done at most four times a second."""
        self._is_due = True
        if not self._is_filling:
            self._is_filling = True
            self.run_worker(self._fill())

    def doing(self, work: Coroutine[object, object, None]) -> None:
        """Do something for which the thread beside is asked; what goes wrong is said."""

        async def guarded() -> None:
            # The screen may be left meanwhile; then nobody sees what was to be shown.
            with suppress(NoMatches):
                try:
                    await work
                except RestanteError as error:
                    self.say_error(error)

        self.run_worker(guarded())

    def say_error(self, error: RestanteError) -> None:
        """Say what went wrong, and what mends it."""
        self.app.notify(words_of(error), severity="error", markup=False, timeout=10)

    def action_help(self) -> None:
        """Tell the keys of this screen."""
        from restante.faces.tui.asking import HelpScreen

        # What the library's own screens bring has words of its own, and moves the focus only.
        ours = [kind.BINDINGS for kind in type(self).__mro__ if issubclass(kind, PeopleScreen)]
        told: dict[str, str] = {}
        for one in (one for some in (*ours, type(self.people).BINDINGS) for one in some if isinstance(one, Binding)):
            told.setdefault(one.description, self.app.get_key_display(one))
        self.app.push_screen(HelpScreen([one for one in told.items() if one[0]]))

    def on_screen_resume(self) -> None:
        """Look again whenever it is seen again."""
        self.stirred()

    def on_resize(self) -> None:
        """Fill the width that there is now."""
        self.show()

    def put(self, selector: str, *parts: tuple[str, str] | str) -> None:
        """Show texts in a widget; an empty one takes no room."""
        widget = self.query_one(selector, Static)
        content = body(*parts)
        widget.update(content)
        widget.display = bool(content.plain)

    async def _fill(self) -> None:
        try:
            while self._is_due and self.is_attached:
                self._is_due = False
                with suppress(NoMatches):
                    await self._refill_or_say()
                await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            self._is_filling = False

    async def _refill_or_say(self) -> None:
        try:
            await self.refill()
        except Unreachable as error:
            # It may stay away for long: said in its place, not in a notice with every look.
            self.put("#notices", text("live.off"), f"\n{words_of(error)}")
        except RestanteError as error:
            self.say_error(error)


class ListScreen(PeopleScreen):
    """A list of which one line is chosen, and below it all that is known of that one.

    ``show`` fills ``#list``, ``show_chosen`` says what is known; both are called again whenever it may have changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", text("key.open"), show=False),
        Binding("question_mark", "help", text("key.help"), key_display="?"),
        Binding("escape", "back", text("key.back")),
    ]

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        yield Static(id="title", classes="line", markup=False)
        yield Static(id="notices", classes="line notice", markup=False)
        yield Rows(id="list", classes="short")
        with VerticalScroll(id="reading"):
            yield Static(id="letter", markup=False)
        yield Footer(compact=True)

    def show_chosen(self) -> None:
        """Say what is known of the chosen line."""

    @property
    def rows(self) -> Rows:
        """The list."""
        return self.query_one("#list", Rows)

    def on_mount(self) -> None:
        """Begin in the list."""
        self.rows.focus()

    def action_read(self) -> None:
        """Go to what is known, to scroll in it."""
        self.query_one("#reading").focus()

    def action_back(self) -> None:
        """Go back to the list, and from there to where one came from."""
        if self.query_one("#reading").has_focus:
            self.rows.focus()
        else:
            self.app.pop_screen()

    def on_data_table_row_selected(self) -> None:
        """Go to what is known, to scroll in it."""
        self.action_read()

    def on_data_table_row_highlighted(self) -> None:
        """Say what is known of the line that is chosen now."""
        self.show_chosen()


class Rows(DataTable[object]):
    """A table of which one row is chosen, by its key; what is chosen stays so when the table changes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select_cursor", text("key.open"))]

    def __init__(self, *, id: str, classes: str = "") -> None:  # noqa: A002  the library's word
        super().__init__(
            id=id, classes=classes, cursor_type="row", zebra_stripes=False, cursor_foreground_priority="renderable"
        )

    @property
    def chosen(self) -> str:
        """The key of the chosen row; empty for none."""
        if not self.row_count or not self.is_valid_row_index(self.cursor_row):
            return ""
        return str(self.ordered_rows[self.cursor_row].key.value)

    def refill(self, columns: list[tuple[str, int]], rows: list[tuple[str, list[object]]]) -> None:
        """Show other rows.

        Args:
            columns: Titles of ours, each with its width in characters; one of none is left out.
            rows: Keys, each with its cells: ``plain.cell`` makes them.
        """
        key, line = self.chosen, self.cursor_row
        top = self.scroll_y
        self.clear(columns=True)
        for number, (title, width) in enumerate(columns):
            if width:
                self.add_column(Text(title, no_wrap=True), width=width, key=str(number))
        for name, cells in rows:
            self.add_row(*(one for one, (_, width) in zip(cells, columns, strict=True) if width), key=name)
        names = [name for name, _ in rows]
        if names:
            self.move_cursor(row=names.index(key) if key in names else min(line, len(names) - 1), scroll=False)
            self.scroll_to(y=top, animate=False)
