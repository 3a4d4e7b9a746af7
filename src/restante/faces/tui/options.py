"""What a person decides, and what is in force: keeping mail on disk, limits, times."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from restante.faces.tui import around
from restante.faces.tui.asking import AskScreen
from restante.faces.tui.base import ListScreen
from restante.faces.tui.plain import cell, fitted
from restante.faces.tui.texts import text

if TYPE_CHECKING:
    from textual.binding import BindingType

    from restante.faces.tui.around import Force

# What the columns beside the last one want, and the least that each can do with.
_NAME, _VALUE = (26, 26), (22, 14)
_LEAST_DEFAULT = 12


class OptionsScreen(ListScreen):
    """Whether mail between sessions is kept, and every option with its value."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("k", "keep", text("key.keep"))]

    def __init__(self) -> None:
        super().__init__()
        self._force: Force | None = None

    async def refill(self) -> None:
        """Show what is in force now."""
        found = await self.ask(around.force)
        if self.is_attached:
            self._force = found
            self.show()

    def show(self) -> None:
        """Show it."""
        self.put("#title", (text("options.title"), "bold"), f" · {text('options.persistence')}: {self._kept()}")
        found = self._force
        if found is None:
            return
        name, value, rest = widths = fitted(self.room, _NAME, _VALUE, rest=_LEAST_DEFAULT)
        lines: list[tuple[str, list[object]]] = [
            (option.name, [cell(option.name, name), cell(shown, value), cell(str(option.default), rest)])
            for option, shown in found.values
        ]
        titles = [text(one) for one in ("options.name", "options.value", "options.default")]
        self.rows.refill(list(zip(titles, widths, strict=True)), lines)
        self.put("#notices")
        self.show_chosen()

    def show_chosen(self) -> None:
        """Say what the chosen option does, and where it is set."""
        chosen = self.rows.chosen
        found = self._force.values if self._force else ()
        option = next((one for one, _ in found if one.name == chosen), None)
        if option is None:
            self.put("#letter")
            return
        where = text("options.where", variable=option.environment)
        self.put(
            "#letter", (option.name, "bold"), f"\n{option.help}\n\n{where}\n", (text("options.values.text"), "dim")
        )

    def action_keep(self) -> None:
        """Ask, with what follows from it, and keep mail between sessions on disk, or no longer."""
        found = self._force
        if found is None:
            return
        before = found.persistence
        if before.is_fixed:
            self.app.notify(text("options.persistence.fixed"), markup=False)
            return
        if not before.is_on:
            question, follows = text("options.persistence.start"), text("options.follows.on")
        else:
            which = "moves" if before.has_server else "lost" if found.waiting else "nowhere"
            question = text("options.persistence.stop")
            follows = text(f"options.follows.{which}", count=found.waiting)

        def go_on(is_sure: bool | None) -> None:
            if is_sure:
                self.doing(self._keep(not before.is_on))

        self.app.push_screen(AskScreen(f"{question}?", follows), go_on)

    async def _keep(self, is_on: bool) -> None:
        await self.ask(lambda ground: around.keep(ground, is_on))
        self.stirred()

    def _kept(self) -> str:
        if self._force is None:
            return ""
        one = self._force.persistence
        if one.is_fixed:
            return text("options.persistence.fixed")
        if one.is_on:
            return text("options.persistence.on")
        return text("options.persistence.off" if one.has_server else "options.persistence.nowhere")
