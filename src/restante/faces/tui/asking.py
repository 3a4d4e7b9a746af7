"""What lies over a screen: its keys, and a question before something is changed for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from restante.faces.tui.plain import body
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

_KEY_WIDTH = 8


class HelpScreen(ModalScreen[None]):
    """The keys of the screen below it.

    Args:
        keys: What each does, and the key as it is shown, in order.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,f1,enter,q", "dismiss", show=False)]

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        lines = "\n".join(f"{key:<{_KEY_WIDTH}} {what}" for what, key in self._keys)
        with VerticalScroll(classes="over"):
            yield Static(body((text("help.title"), "bold"), f"\n{lines}\n", (text("help.how"), "dim")), markup=False)

    def on_mount(self) -> None:
        """Let it be scrolled where it does not fit."""
        self.query_one(VerticalScroll).focus()


class AskScreen(ModalScreen[bool]):
    """A question before something is done.

    Args:
        question: What is about to be done; a text of ours.
        consequences: What follows from it; may be anybody's text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "dismiss(True)", show=False),
        Binding("escape", "dismiss(False)", show=False),
    ]

    def __init__(self, question: str, consequences: str) -> None:
        super().__init__()
        self._question = question
        self._consequences = consequences

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        with Vertical(classes="over"):
            yield Static(body((self._question, "bold"), f"\n{self._consequences}\n"), markup=False)
            yield Static(text("ask.how"), markup=False)
