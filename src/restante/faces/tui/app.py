"""The program: which screen is shown, the thread that asks, the one that watches."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.app import App
from textual.binding import Binding
from textual.message import Message

from restante.faces.tui.base import PeopleScreen
from restante.faces.tui.overview import OverviewScreen
from restante.faces.tui.texts import text
from restante.wiring.watching import Watching

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from restante.faces.tui.ground import Ground

_Result = TypeVar("_Result")
# Ages are shown in words, and the mail of worktrees and roles is watched by nothing but this.
_LOOK_SECONDS = 5.0
# Below so many columns two choices beside each other have no room for their labels.
_NARROW = 76


class PeopleApp(App[None]):
    """The screen for people.

    Args:
        ground: What is asked.
    """

    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_NARROW, "-wide")]  # noqa: RUF012  as the library declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", text("key.quit"), priority=True, show=False),
    ]
    CSS = """
    .line { height: auto; max-height: 3; padding: 0 1; }
    .notice { color: $text-warning; }
    .error { color: $text-error; }
    .label { width: 14; padding: 0 1; }
    .field { height: 1; }
    .field Input { width: 1fr; }
    .field Select { width: 24; }
    Rows { height: 1fr; }
    Rows, VerticalScroll { scrollbar-size-vertical: 1; }
    Rows.short { height: auto; max-height: 40%; }
    #reading { height: 1fr; border-top: solid $surface-lighten-2; padding: 0 1; }
    #reading:focus { border-top: heavy $accent; }
    #matches { height: auto; max-height: 6; border: none; padding: 0 1; }
    #text { height: 1fr; min-height: 4; border: none; border-top: solid $surface-lighten-2; }
    #text:focus { border: none; border-top: heavy $accent; }
    #findings { max-height: 6; }
    #buttons { height: 1; }
    #buttons Button { margin-right: 2; }
    ModalScreen { align: center middle; }
    .over { width: 70; max-width: 100%; height: auto; max-height: 100%; border: heavy $accent; padding: 0 1; }
    .over { background: $surface; }
    .-narrow .field Select { width: 16; }
    Rows > .datatable--header, Rows:focus > .datatable--header { background: $background; text-style: bold; }
    Rows > .datatable--cursor { background: $background; color: $foreground; text-style: bold; }
    Rows:focus > .datatable--cursor { background: $background; color: $foreground; text-style: reverse; }
    """

    class Stirred(Message):
        """Something changed, or changes cannot be waited for any more."""

        def __init__(self, *, is_live: bool) -> None:
            super().__init__()
            self.is_live = is_live

    def __init__(self, ground: Ground) -> None:
        # The terminal's own colours, whatever they are; what is chosen is reversed, which fits all of them. It is said
        # first: where colours are not wanted, the library decides here how it leaves them out.
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self._ground = ground
        self.is_live = True
        # One thread: what is asked later sees what was asked earlier, and databases are opened once.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="restante-tui")
        self._watching = Watching(
            ground.environment,
            ground.directory,
            lambda _window, _server: self._hear(is_live=True),
            lambda: self._hear(is_live=False),
        )

    async def ask(self, work: Callable[[Ground], _Result]) -> _Result:
        """Ask something in the thread beside; raises whatever it raises."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, self._ground)

    def on_mount(self) -> None:
        """Show the overview, and begin to watch."""
        self.push_screen(OverviewScreen())
        self.set_interval(_LOOK_SECONDS, self._look_again)
        self._watching.start()

    def on_unmount(self) -> None:
        """Let go of the threads."""
        self._watching.end()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def on_people_app_stirred(self, event: Stirred) -> None:
        """Let the screen that is seen look again."""
        self.is_live = event.is_live
        self._look_again()

    def _hear(self, *, is_live: bool) -> None:
        if self.is_running:
            self.post_message(self.Stirred(is_live=is_live))

    def _look_again(self) -> None:
        if isinstance(self.screen, PeopleScreen):
            self.screen.stirred()
