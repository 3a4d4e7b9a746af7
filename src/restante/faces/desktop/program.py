"""Beginning and end of the window: what must be there, the only one of its data directory, signals."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from restante.domain.errors import Refused
from restante.domain.text import visible
from restante.faces.desktop.ground import Ground
from restante.faces.desktop.memory import Memory
from restante.faces.desktop.texts import text
from restante.faces.desktop.watching import counting
from restante.wiring.desktop import reason_for_silence, worktree_of
from restante.wiring.opening import check_no_agent
from restante.wiring.single import PATIENCE_SECONDS, Call, answer_calls, first_or_call, only_one

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtWidgets import QApplication

    from restante.faces.desktop.window import Window

# Chromium's own switch and Qt's, for whoever knows what it means to go without.
_SWITCHES = ("QTWEBENGINE_CHROMIUM_FLAGS", "--no-sandbox"), ("QTWEBENGINE_DISABLE_SANDBOX", "1")
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
_PLATFORM = "QT_QPA_PLATFORM"
_NEEDED = "docs/howto/desktop.md names the system's packages that it needs"


def run(environment: Mapping[str, str], directory: str) -> None:
    """Show the window until the person closes it, or let the one that is there show itself.

    Args:
        environment: Where settings, places and the screen come from.
        directory: A directory of the worktree to show; empty for what was shown last.

    Raises:
        Refused: An agent asks, or there is no screen, or a part is missing.
        NoWorktree: The directory is in none.
        Busy: The window that is there does not answer.
        Unreachable: The server does not answer.
    """
    check_no_agent(environment, "the window")
    check_screen(environment)
    worktree = worktree_of(directory) if directory else ""
    with ExitStack() as stack:
        listener = first_or_call(lambda: stack.enter_context(only_one(environment)), environment, Call(worktree))
        if listener is None:
            tell(text("shown"))
            return
        _show(environment, worktree, listener)


def check_screen(environment: Mapping[str, str]) -> None:
    """Check that there is a screen, and a browser that may run there.

    Raises:
        Refused: There is not.
    """
    has_screen = sys.platform == "darwin" or any(environment.get(name) for name in (*_SCREENS, _PLATFORM))
    if not has_screen:
        raise _no_screen()
    if not os.geteuid() and not any(word in environment.get(name, "") for name, word in _SWITCHES):
        raise Refused(
            "the window is not for the administrator: its browser has no sandbox there",
            remedy="start it as the person who looks; restante tui shows the same",
        )


def tell(words: str) -> None:
    """Say something where the window was started."""
    print(f"restante: {visible(words)}", file=sys.stderr)  # noqa: T201


def _no_screen(reason: str = "neither DISPLAY nor WAYLAND_DISPLAY is set") -> Refused:
    return Refused(f"there is no screen for a window: {reason}", remedy="restante tui shows the same in a terminal")


def _show(environment: Mapping[str, str], worktree: str, listener: socket.socket) -> None:
    application = _application()
    from restante.faces.desktop.window import Window

    memory = Memory(environment, tell)
    ground = Ground(environment, memory)
    if worktree:
        memory.choose(worktree)
        memory.change(worktree=worktree)
    must_end = True
    try:
        window = Window(ground, memory, ground.way_in(), application.setBadgeNumber)
        watching = counting(environment, window.counted.emit)
        _answer(window, listener)
        _held = _listen_to_signals(application)
        if reason := reason_for_silence(environment):
            tell(text("silent", reason=reason))
        window.show()
        watching.start()
        application.exec()
        watching.end()
        # Whoever was not asked, as by a signal, loses nothing.
        must_end = not (window.leaves_server or (window.isVisible() and ground.at_stake()))
    finally:
        if must_end:
            ground.end()
        elif ground.has_server:
            tell(text("left"))


def _application() -> QApplication:
    try:
        from PySide6.QtCore import QtMsgType, qInstallMessageHandler
        from PySide6.QtWebEngineWidgets import QWebEngineView  # noqa: F401  it must be there before the application is
        from PySide6.QtWidgets import QApplication
    except ImportError as error:
        raise Refused(f"a part of the window is not installed: {error}", remedy=_NEEDED) from None

    said: list[str] = []

    def hear(kind: QtMsgType, _: Any, words: str) -> None:  # noqa: ANN401  Qt's context of a line
        # Qt ends the process after such a line; what it said before is why.
        said.append(words)
        if kind == QtMsgType.QtFatalMsg:
            error = _no_screen("; ".join(one.strip() for one in said if "isplay" in one or "xcb" in one) or words)
            tell(f"{error.message}; {error.remedy}; {_NEEDED}")
            os._exit(error.exit_code)
        del said[:-8]

    qInstallMessageHandler(hear)
    # Qt gets no words of ours: it would take some of them for its own.
    application = QApplication([text("app")])
    application.setApplicationDisplayName(text("app"))
    # The name under which a launcher shows how much is unseen.
    application.setDesktopFileName("restante")
    return application


def _answer(window: Window, listener: socket.socket) -> None:
    """Answer further starts in a thread, by the window's own."""

    def show(asked: Call) -> bool:
        done = threading.Event()
        window.called.emit(asked.worktree, done.set)
        return done.wait(PATIENCE_SECONDS / 2)

    threading.Thread(target=answer_calls, args=(listener, show), name="restante-desktop-calls", daemon=True).start()


def _listen_to_signals(application: QApplication) -> tuple[object, ...]:
    """Leave on a signal: Python sees none while Qt waits, so that a socket wakes it. Returns what must be kept."""
    from PySide6.QtCore import QSocketNotifier

    ours, theirs = socket.socketpair()
    for one in (ours, theirs):
        one.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: application.exit())
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read, application)
    notifier.activated.connect(lambda *_: ours.recv(64))
    return ours, theirs, notifier
