"""The part of the window that shows pages: nothing of it is on disk, and it goes nowhere but to its own server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWebEngineCore import (
    QWebEngineLoadingInfo,
    QWebEnginePage,
    QWebEngineProfile,
    QWebEngineScript,
    QWebEngineSettings,
    QWebEngineUrlRequestInfo,
    QWebEngineUrlRequestInterceptor,
)

from restante.faces.desktop.rules import Fate, fate_of, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWebEngineCore import QWebEngineNewWindowRequest

    from restante.faces.desktop.rules import Origin

# What only a window can do is hidden in the pages. Scripts of pages see nothing of the world that this one runs in.
_WORLD = QWebEngineScript.ScriptWorldId.ApplicationWorld.value
_IS_STRANGER = "document.querySelector('header nav') === null"
_REVEAL = 'for (const one of document.querySelectorAll("[data-desktop]")) one.hidden = false;'
_ATTRIBUTES = (
    (QWebEngineSettings.WebAttribute.JavascriptCanOpenWindows, False),
    (QWebEngineSettings.WebAttribute.JavascriptCanAccessClipboard, False),
    (QWebEngineSettings.WebAttribute.LocalContentCanAccessFileUrls, False),
    (QWebEngineSettings.WebAttribute.NavigateOnDropEnabled, False),
    (QWebEngineSettings.WebAttribute.PdfViewerEnabled, False),
    (QWebEngineSettings.WebAttribute.PluginsEnabled, False),
    # What was seen last stays while the server is away.
    (QWebEngineSettings.WebAttribute.ErrorPageEnabled, False),
)
# What a person does reaches the page, and comes back as a way to go, within less than this.
_JUST_NOW_SECONDS = 2.0
_PRESSES = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.KeyPress)


class _Guard(QWebEngineUrlRequestInterceptor):
    """Lets nothing be asked of any other server, whatever a page would load."""

    def __init__(self, own: Callable[[], Origin]) -> None:
        super().__init__()
        self._own = own

    def interceptRequest(self, info: QWebEngineUrlRequestInfo) -> None:  # noqa: N802  Qt's name
        url = info.requestUrl()
        if url.scheme() != "data" and origin_of(_written(url)) != self._own():
            info.block(True)


class Hands(QObject):
    """Notes when the person last pressed anything: to Qt a script's way and a click on a link are the same.

    Args:
        above: What it goes with.
    """

    def __init__(self, above: QObject) -> None:
        super().__init__(above)
        self._last = float("-inf")

    def were_used(self) -> bool:
        """Whether that was just now."""
        return time.monotonic() - self._last < _JUST_NOW_SECONDS

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802
        """Take a look at what a part of the window is given, and let it pass."""
        if event.type() in _PRESSES:
            self._last = time.monotonic()
        return False


class Pages(QWebEnginePage):
    """Shows the pages of one server.

    Args:
        origin: The server.
        hands: What the person does.
        above: What it goes with.
    """

    asked_for_folder = Signal()
    lost = Signal()

    def __init__(self, origin: Origin, hands: Hands, above: QObject) -> None:
        # Without a name a profile keeps cookies and pages in memory, and nothing on disk.
        self._kept_apart = QWebEngineProfile(above)
        super().__init__(self._kept_apart, above)
        self.origin = origin
        self._hands = hands
        self._guard = _Guard(lambda: self.origin)
        self.setUrlRequestInterceptor(self._guard)
        for attribute, is_on in _ATTRIBUTES:
            self.settings().setAttribute(attribute, is_on)
        self.newWindowRequested.connect(self._open)
        self.loadingChanged.connect(self._loading)
        self.renderProcessTerminated.connect(lambda *_: self.lost.emit())

    def reveal_folder(self) -> None:
        """Show the links to what only a window can do."""
        script = QWebEngineScript()
        script.setName("restante-desktop")
        script.setSourceCode(_REVEAL)
        script.setInjectionPoint(QWebEngineScript.InjectionPoint.DocumentReady)
        script.setWorldId(_WORLD)
        self.scripts().insert(script)

    def ask_whether_stranger(self, told: Callable[[object], None]) -> None:
        """Tell later whether the page that is shown knows nobody: who left, or whose cookie is worth nothing now."""
        self.runJavaScript(_IS_STRANGER, _WORLD, told)

    def acceptNavigationRequest(self, url: QUrl | str, kind: QWebEnginePage.NavigationType, is_main: bool) -> bool:  # noqa: N802
        """Tell Qt whether the page may go there; answer what is not for a page to answer."""
        is_link = kind == QWebEnginePage.NavigationType.NavigationTypeLinkClicked
        return self._follow(QUrl(url), is_click=is_link and self._hands.were_used(), is_main=is_main)

    def javaScriptConsoleMessage(self, *_: object) -> None:  # noqa: N802
        """Say nothing: it may quote a message, and the terminal is no place for that."""

    def _open(self, request: QWebEngineNewWindowRequest) -> None:
        if self._follow(request.requestedUrl(), is_click=request.isUserInitiated(), is_main=True):
            self.load(request.requestedUrl())

    def _follow(self, url: QUrl, *, is_click: bool, is_main: bool) -> bool:
        fate = fate_of(_written(url), self.origin, is_click=is_click, is_main=is_main)
        if fate is Fate.FOLDER:
            self.asked_for_folder.emit()
        elif fate is Fate.BROWSER:
            QDesktopServices.openUrl(url)
        return fate is Fate.HERE

    def _loading(self, info: QWebEngineLoadingInfo) -> None:
        is_away = info.errorDomain() == QWebEngineLoadingInfo.ErrorDomain.ConnectionErrorDomain
        if info.status() == QWebEngineLoadingInfo.LoadStatus.LoadFailedStatus and is_away:
            self.lost.emit()


def _written(url: QUrl) -> str:
    return bytes(url.toEncoded().data()).decode("ascii", "replace")
