"""What every screen does: ask in the thread beside, look again when told to, say what went wrong."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, cast

from rich.text import Text
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widgets import DataTable, Static

from restante.domain.errors import RestanteError
from restante.faces.tui.plain import body, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from restante.faces.tui.app import PeopleApp
    from restante.faces.tui.ground import Ground

_Result = TypeVar("_Result")
# A screen that looks again more often than this shows no more to a person.
_PAUSE_SECONDS = 0.25


class PeopleScreen(Screen[None]):
    """One screen; ``refill`` says what it shows."""

    def __init__(self) -> None:
        super().__init__()
        self._is_due = False
        self._is_filling = False

    async def refill(self) -> None:
        """Show what is to be seen now."""

    @property
    def people(self) -> PeopleApp:
        """The program."""
        return cast("PeopleApp", self.app)

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

    def on_screen_resume(self) -> None:
        """Look again whenever it is seen again."""
        self.stirred()

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
                    try:
                        await self.refill()
                    except RestanteError as error:
                        self.say_error(error)
                await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            self._is_filling = False


class Rows(DataTable[object]):
    """A table of which one row is chosen, by its key; what is chosen stays so when the table changes."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  the library's word
        super().__init__(id=id, cursor_type="row", zebra_stripes=False, cursor_foreground_priority="renderable")

    @property
    def chosen(self) -> str:
        """The key of the chosen row; empty for none."""
        if not self.row_count or not self.is_valid_row_index(self.cursor_row):
            return ""
        return str(self.ordered_rows[self.cursor_row].key.value)

    def refill(self, columns: list[tuple[str, int]], rows: list[tuple[str, list[object]]]) -> None:
        """Show other rows.

        Args:
            columns: Titles of ours, each with its width in characters.
            rows: Keys, each with its cells: ``plain.cell`` makes them.
        """
        key, line = self.chosen, self.cursor_row
        top = self.scroll_y
        self.clear(columns=True)
        for number, (title, width) in enumerate(columns):
            self.add_column(Text(title, no_wrap=True), width=width, key=str(number))
        for name, cells in rows:
            self.add_row(*cells, key=name)
        names = [name for name, _ in rows]
        if names:
            self.move_cursor(row=names.index(key) if key in names else min(line, len(names) - 1), scroll=False)
            self.scroll_to(y=top, animate=False)
