"""The window: pages, a title with how much is unseen, the person's folder dialog, and its place for the next time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWebEngineWidgets import QWebEngineView
from PySide6.QtWidgets import QFileDialog, QMainWindow, QMessageBox

from restante.domain.errors import RestanteError
from restante.faces.desktop.browsing import Hands, Pages
from restante.faces.desktop.rules import origin_of, page_of, worktree_at
from restante.faces.desktop.texts import text
from restante.wiring.desktop import notify, worktree_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QCloseEvent, QMoveEvent, QResizeEvent

    from restante.faces.desktop.ground import Ground
    from restante.faces.desktop.memory import Memory

_USUAL = QSize(1100, 800)
_LEAST = QSize(360, 300)
# Whoever moves a window does not want every step of it kept.
_REST_MILLISECONDS = 500
# Messages that come together are told together.
_GATHER_MILLISECONDS = 1_500
_AGAIN_MILLISECONDS = 1_000
_RESTART_SECONDS = 2.0
_ZOOM_STEP = 0.1
# So much of a title must be on a screen that the window can be moved by it.
_REACHABLE = 40


class Window(QMainWindow):
    """The window.

    Args:
        ground: What it stands on.
        memory: What it remembers.
        entrance: The address by which it enters.
        badge: Shows a number at the program's sign, where the desktop has one.
    """

    counted = Signal(int, str)
    called = Signal(str, object)
    _entered = Signal(str)

    def __init__(self, ground: Ground, memory: Memory, entrance: str, badge: Callable[[int], None]) -> None:
        super().__init__()
        self.leaves_server = False
        self._ground, self._memory, self._badge = ground, memory, badge
        self._unseen: int | None = None
        self._told = 0
        self._is_entering = self._is_lost = False
        self._next = ""
        origin = origin_of(entrance)
        assert origin is not None, "page_url returns an address of the web"
        self._hands = Hands(self)
        self.pages = Pages(origin, self._hands, self)
        self._view = QWebEngineView(self)
        self._view.setPage(self.pages)
        self.setCentralWidget(self._view)
        self.setMinimumSize(_LEAST)
        self._resting = self._timer(_REST_MILLISECONDS, self._keep_place)
        self._gathering = self._timer(_GATHER_MILLISECONDS, self._tell)
        self._again = self._timer(_AGAIN_MILLISECONDS, self._enter_again)
        self._connect()
        self._add_keys()
        self._take_place()
        self._show_title("")
        self._enter(entrance)

    def _connect(self) -> None:
        self.pages.titleChanged.connect(self._show_title)
        self.pages.urlChanged.connect(self._note_worktree)
        self.pages.loadFinished.connect(self._go_on)
        self.pages.lost.connect(self._lose)
        # A dialog must not begin while the browser waits for an answer.
        self.pages.asked_for_folder.connect(self.choose, Qt.ConnectionType.QueuedConnection)
        self.counted.connect(self._count)
        self.called.connect(self._answer)
        self._entered.connect(self._enter)
        if self._ground.is_local:
            self.pages.reveal_folder()

    def _timer(self, milliseconds: int, act: Callable[[], None]) -> QTimer:
        timer = QTimer(self, interval=milliseconds, singleShot=True)
        timer.timeout.connect(act)
        return timer

    def _add_keys(self) -> None:
        keys = QKeySequence.StandardKey
        acts: tuple[tuple[str, QKeySequence.StandardKey, Callable[[], object]], ...] = (
            ("menu.back", keys.Back, self._view.back),
            ("menu.reload", keys.Refresh, self._load_again),
            ("menu.close", keys.Close, self.close),
            ("menu.larger", keys.ZoomIn, lambda: self._zoom(_ZOOM_STEP)),
            ("menu.smaller", keys.ZoomOut, lambda: self._zoom(-_ZOOM_STEP)),
        )
        for name, key, act in acts:
            action = QAction(text(name), self)
            action.setShortcuts(key)
            action.triggered.connect(act)
            self.addAction(action)

    def _zoom(self, step: float) -> None:
        self._view.setZoomFactor(self._view.zoomFactor() + step)

    # Pages.

    def open_worktree(self, worktree: str) -> None:
        """Show a worktree's page; it counts as chosen by the person."""
        self._memory.choose(worktree)
        self.pages.load(QUrl(page_of(self.pages.origin, worktree)))

    def _enter(self, entrance: str) -> None:
        """Enter with the address of the server that lives now, and go where the window was."""
        self._is_entering = False
        origin = origin_of(entrance)
        if origin is None or (origin == self.pages.origin and self.pages.url().isValid() and not self._is_lost):
            return
        self.pages.origin = origin
        self._next = self._memory.now.worktree
        self.pages.load(QUrl(entrance))

    def _go_on(self, is_there: bool) -> None:
        # What takes the person's presses may be another part after each page.
        if (part := self._view.focusProxy()) is not None:
            part.installEventFilter(self._hands)
        if not is_there:
            return
        self._is_lost = False
        worktree, self._next = self._next, ""
        if worktree and worktree_at(self.pages.url().toString()) == "":
            self.pages.load(QUrl(page_of(self.pages.origin, worktree)))

    def _load_again(self) -> None:
        self.pages.ask_whether_stranger(lambda is_stranger: self._lose() if is_stranger else self._view.reload())

    def _lose(self) -> None:
        self._is_lost = True
        self._again.start()

    def _enter_again(self) -> None:
        if self._is_entering:
            return
        self._is_entering = True

        def work() -> None:
            try:
                self._entered.emit(self._ground.way_in(patience=_RESTART_SECONDS))
            except RestanteError:
                self._entered.emit("")

        threading.Thread(target=work, daemon=True).start()

    def _note_worktree(self, url: QUrl) -> None:
        worktree = worktree_at(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        # On the way in the overview is only passed through.
        if worktree is not None and not self._next:
            self._memory.change(worktree=worktree)

    # What the person chooses.

    def choose(self) -> None:
        """Let the person choose a folder, and show the worktree that it belongs to."""
        if not self._ground.is_local:
            return
        now = self._memory.now
        start = now.worktree or next(iter(now.chosen), "")
        found = QFileDialog.getExistingDirectory(self, text("choose.title"), start)
        if not found:
            return
        try:
            self.open_worktree(worktree_of(found))
        except RestanteError as error:
            self._ask(text("choose.failed"), f"{error.message}\n{error.remedy}", (text("menu.close"),))

    def _ask(self, title: str, words: str, answers: tuple[str, ...]) -> int:
        """Ask the person something; returns which answer was given, the last one for none."""
        box = QMessageBox(self)
        box.setWindowTitle(title)
        # Names of folders are anybody's, and no markup.
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(words)
        buttons = [box.addButton(answer, QMessageBox.ButtonRole.AcceptRole) for answer in answers]
        box.setEscapeButton(buttons[-1])
        box.exec()
        clicked = box.clickedButton()
        return next((number for number, one in enumerate(buttons) if one is clicked), len(buttons) - 1)

    # What is unseen.

    def _count(self, unseen: int, server: str) -> None:
        before, self._unseen = self._unseen, unseen
        if unseen != before:
            self._show_title(self.pages.title())
            self._badge(unseen)
        if before is None or unseen < self._told:
            self._told = unseen
        elif unseen > self._told and not self._gathering.isActive():
            self._gathering.start()
        if not server or origin_of(server) != self.pages.origin:
            self._again.start()

    def _tell(self) -> None:
        unseen = self._unseen or 0
        is_news, self._told = unseen > self._told, unseen
        if is_news and not self.isActiveWindow():
            words = text("news", count=unseen)
            threading.Thread(target=notify, args=(self._ground.environment, words), daemon=True).start()

    def _show_title(self, title: str) -> None:
        head, _, rest = title.partition(") ")
        plain = rest if head[:1] == "(" and head[1:].isdecimal() else title
        count = f"({self._unseen}) " if self._unseen else ""
        self.setWindowTitle(count + (plain or text("app")))

    # Its place.

    def show_again(self) -> None:
        """Come up and in front, wherever it was."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def _answer(self, worktree: str, done: Callable[[], None]) -> None:
        if worktree:
            self.open_worktree(worktree)
        else:
            self.pages.ask_whether_stranger(lambda is_stranger: self._lose() if is_stranger else None)
        self.show_again()
        done()

    def _take_place(self) -> None:
        now = self._memory.now
        self.resize(_USUAL)
        if now.place is not None:
            left, top, width, height = now.place
            title = QRect(left, top, width, _REACHABLE)
            if any(screen.availableGeometry().intersects(title) for screen in QGuiApplication.screens()):
                self.move(QPoint(left, top))
            self.resize(QSize(width, height).expandedTo(_LEAST))
        if now.is_maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)

    def _keep_place(self) -> None:
        if self.isMinimized():
            return
        if self.isMaximized():
            self._memory.change(is_maximized=True)
            return
        place = (self.pos().x(), self.pos().y(), self.width(), self.height())
        self._memory.change(place=place, is_maximized=False)

    def moveEvent(self, event: QMoveEvent) -> None:  # noqa: N802  Qt's names from here on
        """Keep the place once it rests."""
        super().moveEvent(event)
        self._resting.start()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the size once it rests."""
        super().resizeEvent(event)
        self._resting.start()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        """Ask first where mail would be lost."""
        self._keep_place()
        if count := self._ground.at_stake():
            answers = (text("leaving.leave"), text("leaving.end"), text("leaving.stay"))
            given = self._ask(text("leaving.title"), text("leaving.text", count=count), answers)
            if given == len(answers) - 1:
                event.ignore()
                return
            self.leaves_server = given == 0
        event.accept()
