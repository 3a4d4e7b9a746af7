"""Writing: to whom, with completion; what screening finds is said meanwhile, and leaving it all the same is a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Button, Footer, Input, Label, OptionList, Select, Static, TextArea
from textual.widgets.option_list import Option

from restante.domain.errors import RestanteError, Screened
from restante.domain.message import Priority, Scope
from restante.domain.writing import Writing
from restante.faces.tui.base import PeopleScreen
from restante.faces.tui.plain import PRINTABLE, body, in_place, words_of
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.events import Key
    from textual.timer import Timer

    from restante.domain.finding import Finding

_SCREEN_AFTER_SECONDS = 0.4
_MOST_MATCHES = 50
_FIELDS = ("to", "subject", "conversation", "expires", "repeat")


class PlainArea(TextArea):
    """A field for a text; what was pasted stays as it is, and acts on no terminal while it is shown."""

    def get_line(self, line_index: int) -> Text:
        """Return a line as it is shown."""
        return Text(in_place(self.document.get_line(line_index)), end="", no_wrap=True)


class ComposeScreen(PeopleScreen):
    """A form to leave a text.

    Args:
        to: The address that is filled in already.
        conversation: The conversation that is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "leave", text("key.leave"), priority=True),
        Binding("escape", "back", text("key.back")),
    ]

    def __init__(self, to: str = "", conversation: str = "") -> None:
        super().__init__()
        self._given = {"to": to, "conversation": conversation}
        self._recipients: list[tuple[str, str]] = []
        self._timer: Timer | None = None
        self._asked_about = ""
        self._drops = False
        self._is_leaving = False
        self._is_due_again = False

    def compose(self) -> ComposeResult:
        """Return the widgets."""
        yield Static(text("compose.title"), id="title", classes="line", markup=False)
        yield from self._row(("to", ""))
        yield OptionList(id="matches", markup=False, compact=True)
        yield from self._row(("subject", ""))
        yield PlainArea(id="text", tab_behavior="focus", soft_wrap=True)
        yield Static(id="findings", classes="line notice", markup=False)
        with Horizontal(classes="field"):
            yield Label(text("compose.priority"), classes="label", markup=False)
            yield _choice("priority", [one.value for one in Priority], "normal")
            yield Label(text("compose.scope"), classes="label", markup=False)
            yield _choice("scope", [one.value for one in Scope], "current_task")
        yield from self._row(("conversation", ""))
        yield from self._row(("expires", "90m, 12h, 1d"), ("repeat", "30m"))
        yield Static(id="said", classes="line", markup=False)
        with Horizontal(id="buttons"):
            yield Button(text("compose.send"), id="send", compact=True)
            yield Button(text("compose.anyway"), id="anyway", variant="error", compact=True)
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Begin with whom, or with the text where that is known."""
        for name, value in self._given.items():
            self.query_one(f"#{name}", Input).value = value if value.isprintable() else ""
        for name in ("#matches", "#findings", "#anyway", "#said"):
            self.query_one(name).display = False
        self.query_one("#text" if self._given["to"] else "#to").focus()

    async def refill(self) -> None:
        """Learn once who can be written to; a form is changed by nobody else."""
        if not self._recipients:
            self._recipients = await self.ask(lambda ground: ground.recipients())
            if self.is_attached and self.query_one("#to").has_focus:
                self._complete(self.query_one("#to", Input).value)

    # -- what is typed -------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer who is meant."""
        if event.input.id == "to" and event.input.has_focus:
            self._complete(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the first who is offered, and go on."""
        if event.input.id == "to":
            matches = self._matching(event.value)
            if matches and event.value not in [address for address, _ in self._recipients]:
                event.input.value = matches[0][0]
            self.query_one("#matches").display = False
        self.focus_next()
        if event.input.id == "to" and self.focused is self.query_one("#matches"):
            self.focus_next()

    def on_key(self, event: Key) -> None:
        """Forget that the text was about to be dropped: see ``action_back``."""
        self._drops = self._drops and event.key == "escape"

    def on_descendant_focus(self) -> None:
        """Offer whom to write to only while that is asked."""
        focused = self.focused
        if focused is None or focused.id not in {"to", "matches"}:
            self.query_one("#matches").display = False

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take who was chosen."""
        self.query_one("#to", Input).value = str(event.option.id)
        self.query_one("#matches").display = False
        self.query_one("#subject").focus()

    def on_text_area_changed(self) -> None:
        """Have the text screened when the typing rests, and take back that it may leave anyway."""
        self._drops = False
        if self._asked_about and self.query_one("#text", TextArea).text != self._asked_about:
            self._ask_no_more()
        if self._timer:
            self._timer.stop()
        self._timer = self.set_timer(_SCREEN_AFTER_SECONDS, lambda: self.doing(self._screen()))

    async def _screen(self) -> None:
        written = self.query_one("#text", TextArea).text
        found = await self.ask(lambda ground: ground.screen(written))
        if self.is_attached and self.query_one("#text", TextArea).text == written:
            self._show_findings(found)

    # -- leaving -------------------------------------------------------------------------------------------

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Leave the text; by the second button although something was found."""
        self._begin(is_sure=event.button.id == "anyway")

    def action_leave(self) -> None:
        """Leave the text; where screening finds something, ask again first."""
        self._begin(is_sure=False)

    def action_back(self) -> None:
        """Go back; a text that was begun is dropped only when asked twice."""
        if self.query_one("#matches").display:
            self.query_one("#matches").display = False
            self.query_one("#to").focus()
        elif self.query_one("#text", TextArea).text.strip() and not self._drops:
            self._drops = True
            self.put("#said", text("compose.dropping"))
        else:
            self.app.pop_screen()

    def _begin(self, *, is_sure: bool) -> None:
        if self._is_leaving:
            # Asked for again before the answer came: it is done after it, unless it was done by then.
            self._is_due_again = True
            return
        self._is_leaving = True
        self.doing(self._leave(is_sure=is_sure))

    async def _leave(self, *, is_sure: bool) -> None:
        writing = self._writing()
        try:
            # Only the text that was asked about may leave in spite of what was found in it.
            sure = is_sure and writing.text == self._asked_about
            left = await self.ask(lambda ground: ground.leave(writing, is_sure=sure))
        except Screened as error:
            found = await self.ask(lambda ground: ground.screen(writing.text))
            # What was typed on meanwhile is another text, about which nobody was asked.
            if self.query_one("#text", TextArea).text == writing.text:
                self._show_findings(found)
                self._asked_about = writing.text
                self.query_one("#anyway").display = True
                self.put("#said", text("compose.asked") if found else words_of(error))
        except RestanteError as error:
            self.put("#said", (words_of(error), "bold red"))
        else:
            self._is_due_again = False
            if self.query_one("#text", TextArea).text == writing.text:
                self.query_one("#text", TextArea).text = ""
                self.query_one("#subject", Input).value = ""
                self._show_findings([])
            self._ask_no_more()
            name = "compose.duplicate" if left.duplicate else "compose.sent"
            self.put("#said", text(name, name=left.name, id=left.id))
        finally:
            self._is_leaving = False
        if self._is_due_again:
            self._is_due_again = False
            self._begin(is_sure=False)

    def _writing(self) -> Writing:
        typed = {name: self.query_one(f"#{name}", Input).value for name in _FIELDS}
        chosen = {name: str(self.query_one(f"#{name}", Select).value) for name in ("priority", "scope")}
        return Writing(text=self.query_one("#text", TextArea).text, **typed, **chosen)

    # -- helpers -------------------------------------------------------------------------------------------

    def _row(self, *fields: tuple[str, str]) -> ComposeResult:
        with Horizontal(classes="field"):
            for name, hint in fields:
                yield Label(text(f"compose.{name}"), classes="label", markup=False)
                yield Input(id=name, compact=True, placeholder=hint, restrict=PRINTABLE, select_on_focus=False)

    def _matching(self, typed: str) -> list[tuple[str, str]]:
        words = typed.casefold().split()
        return [one for one in self._recipients if all(word in " ".join(one).casefold() for word in words)]

    def _complete(self, typed: str) -> None:
        matches = [] if typed in [address for address, _ in self._recipients] else self._matching(typed)
        offered = self.query_one("#matches", OptionList)
        offered.clear_options()
        offered.add_options(
            Option(body(name) if name == address else body(name, (f"  {address}", "dim")), id=address)
            for address, name in matches[:_MOST_MATCHES]
        )
        offered.display = bool(matches)
        self.put("#said", text("compose.completing") if matches else "")

    def _show_findings(self, found: list[Finding]) -> None:
        lines = [f"  {one.title} ({one.code}, {one.line}): {one.excerpt}" for one in found]
        self.put("#findings", "\n".join([text("compose.findings"), *lines]) if found else "")

    def _ask_no_more(self) -> None:
        self._asked_about = ""
        button = self.query_one("#anyway")
        if button.has_focus:
            self.query_one("#text").focus()
        button.display = False
        self.put("#said")


def _choice(name: str, words: list[str], value: str) -> Select[str]:
    return Select([(word, word) for word in words], id=name, value=value, allow_blank=False, compact=True)
