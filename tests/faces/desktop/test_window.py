"""What a person does with the window, on a real screen."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from tests import desktop
from tests.faces.desktop.conftest import until

from restante.wiring.sessions import open_window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faces.desktop.conftest import Desk

pytestmark = pytest.mark.slow

CHOOSE = "a[href$='/desktop/folder']"


def page_of(worktree: object) -> str:
    return f"/ui/worktrees?path={quote(str(worktree), safe='')}"


class Elsewhere:
    """A server that is none of ours."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    one = Elsewhere()
    yield one
    one.end()


def test_the_window_shows_the_overview_and_closing_it_stops_what_it_started(desk: Desk) -> None:
    shown = desk.show()
    assert "Overview" in shown.at("/ui/")
    number = shown.titled("Overview", "Restante")
    server = desk.server
    assert server
    command = subprocess.run(
        ["ps", "-o", "args=", "-p", f"{shown.process.pid},{server}"], capture_output=True, text=True
    ).stdout
    assert "restante.faces.desktop" in command
    for place in (command, shown.said, shown.look("location.href"), (desk.data / "desktop.json").read_text()):
        assert "key=" not in place
        assert (desk.data / "person").read_text().strip() not in place
    desk.press(number, "ctrl+w")
    assert shown.ends() == 0
    assert desk.server == 0
    assert desk.remembered["server"] is None


def test_a_second_start_brings_the_first_window_to_the_front(desk: Desk) -> None:
    shown = desk.show()
    number = shown.titled("Overview")
    desk.xdotool("windowminimize", "--sync", number)
    done = desk.words("desktop")
    assert done.returncode == 0, done.stderr
    assert "is shown" in done.stderr
    until(lambda: desk.xdotool("getactivewindow") == number, "the window in front")
    assert len(desk.windows()) == 1
    done = desk.words("desktop", "-C", str(desk.worktree))
    assert done.returncode == 0, done.stderr
    shown.at(page_of(desk.worktree))
    assert len(desk.windows()) == 1


def test_whoever_signed_out_comes_in_again_by_loading_the_page_or_starting_it_again(desk: Desk) -> None:
    shown = desk.show()
    for come_in in (
        lambda: desk.press(shown.titled("Restante"), "F5"),
        lambda: desk.words("desktop"),
    ):
        shown.at("/ui/")
        shown.click("form[action$='/leave'] button")
        until(lambda: shown.look("document.querySelector('nav') === null"), "nobody is known")
        come_in()
        until(lambda: shown.look("document.querySelector('nav') !== null"), "the person is known")


def test_what_was_killed_leaves_nothing_in_the_way_and_loses_no_mail(desk: Desk) -> None:
    first = desk.show()
    desk.session()
    desk.post("in memory only")
    server = desk.server
    first.process.send_signal(signal.SIGKILL)
    first.ends()
    assert desk.server == server
    second = desk.show()
    assert desk.server == server
    second.titled("(1)")
    # It is asked to go by somebody who cannot be asked: what only the server holds stays.
    second.process.send_signal(signal.SIGTERM)
    assert second.ends() == 0
    assert desk.server == server
    third = desk.show()
    open_window(desk.environment).set_persistence(True)
    third.process.send_signal(signal.SIGTERM)
    assert third.ends() == 0
    assert desk.server == 0


def test_whoever_closes_it_is_asked_before_mail_goes_with_the_server(desk: Desk) -> None:
    shown = desk.show()
    desk.session()
    desk.post("in memory only")
    number = shown.titled("(1)")
    desk.press(number, "ctrl+w")
    asking = shown.titled("Mail is in memory only")
    desk.press(asking, "Escape")
    until(lambda: desk.windows() == [number], "the question is gone")
    assert shown.process.poll() is None
    desk.press(number, "ctrl+w")
    asking = shown.titled("Mail is in memory only")
    desk.press(asking, "Return")
    assert shown.ends() == 0
    assert "runs on" in shown.said
    assert desk.server


def test_it_comes_back_where_it_was_with_the_worktree_that_it_showed(desk: Desk) -> None:
    first = desk.show("-C", str(desk.worktree))
    first.at(page_of(desk.worktree))
    number = first.titled(desk.worktree.name)
    desk.xdotool("windowsize", "--sync", number, "700", "500")
    desk.xdotool("windowmove", "--sync", number, "300", "200")
    until(lambda: desk.remembered["place"][2:] == [700, 500], "the size is kept")
    until(lambda: abs(desk.remembered["place"][0] - 300) < 40, "the place is kept")
    assert (desk.data / "desktop.json").stat().st_mode & 0o777 == 0o600
    place = desk.remembered["place"]
    first.process.send_signal(signal.SIGTERM)
    first.ends()
    second = desk.show()
    second.at(page_of(desk.worktree))
    until(lambda: desk.remembered["place"] == place, "it is at its place")
    number = second.titled(desk.worktree.name)
    assert "700x500" in desk.xdotool("getwindowgeometry", number)
    second.click("a.brand")
    second.at("/ui/")
    until(lambda: desk.remembered["worktree"] == "", "the overview is kept")
    second.process.send_signal(signal.SIGTERM)
    second.ends()
    shutil.rmtree(desk.worktree)
    (desk.data / "desktop.json").write_bytes(b'{"place": [1, 2, "x"], "worktree": 7, "chosen": {}, "server": [')
    desk.show().at("/ui/")


def test_the_title_and_the_badge_count_notices_tell_numbers_and_no_word_of_mail_is_on_disk(desk: Desk) -> None:
    heard = desk.place / "heard"
    with desktop.launcher(heard) as address:
        desk.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        shown = desk.show()
        desk.session()
        shown.at("/ui/")
        shown.click("nav a[href='/ui/settings']")
        shown.at("/ui/settings")
        number = shown.titled("Settings")
        # Whoever looks at the window is not told twice.
        desk.xdotool("windowminimize", "--sync", number)
        desk.post("the first secret word")
        desk.post("the second secret word")
        shown.titled("(2)", "Settings")
        until(lambda: "are unseen" in desk.told.read_text(), "a notice")
        until(lambda: "application://restante.desktop" in heard.read_text(), "a badge")
        until(lambda: re.search(r'"count"\s+variant\s+int64 2\b', heard.read_text()), "its number")
    told = desk.told.read_text()
    assert "notify-send" in told
    assert "2 messages are unseen" in told
    assert "secret" not in told
    shown.process.send_signal(signal.SIGTERM)
    shown.ends()
    for place, _, names in os.walk(desk.place):
        for name in names:
            path = Path(place) / name
            assert not path.is_file() or b"secret word" not in path.read_bytes(), path


def test_a_folder_is_chosen_in_the_systems_dialog(desk: Desk) -> None:
    shown = desk.show()
    shown.click("nav a[href='/ui/worktrees']")
    shown.at("/ui/worktrees")
    assert shown.look(f'document.querySelector("{CHOOSE}").offsetParent !== null')
    inside = desk.worktree / "inside"
    inside.mkdir()
    shown.click(CHOOSE)
    dialog = shown.titled("Choose a worktree")
    desk.fill_in(dialog, inside)
    assert str(desk.worktree) in shown.at(page_of(desk.worktree))
    until(lambda: desk.remembered["chosen"] == [str(desk.worktree)], "it is kept")
    # It is known from then on, and what is no worktree is not.
    shown.click("nav a[href='/ui/worktrees']")
    assert str(desk.worktree) in shown.at("/ui/worktrees")
    shown.click(CHOOSE)
    dialog = shown.titled("Choose a worktree")
    desk.fill_in(dialog, desk.home)
    shown.titled("This folder cannot be shown")
    assert desk.remembered["chosen"] == [str(desk.worktree)]


def test_no_page_but_its_own_comes_into_the_window(desk: Desk, elsewhere: Elsewhere) -> None:
    shown = desk.show()
    shown.at("/ui/")
    url = elsewhere.url
    for way in (
        f"location.href = '{url}/script'",
        f"window.open('{url}/opened')",
        f"document.body.insertAdjacentHTML('beforeend', '<iframe src={url}/frame></iframe><img src={url}/image>')",
        f"fetch('{url}/fetched').catch(() => 0)",
        "location.href = 'file:///etc/passwd'",
        "location.href = '/api/v1/sessions'",
        "location.href = '/ui/desktop/folder'",
    ):
        shown.look(f"(() => {{ {way}; }})()")
    shown.look("new Promise((done) => setTimeout(done, 500))")
    assert shown.look("location.pathname") == "/ui/"
    assert len(desk.windows()) == 1
    assert not desk.told.exists()
    shown.look(
        "document.body.insertAdjacentHTML('afterbegin',"
        f"'<a id=out href={url}/clicked>out</a> <a id=new target=_blank href={url}/new>new</a>')"
    )
    for name in ("out", "new"):
        shown.click(f"#{name}")
    until(lambda: all(f"{url}/{word}" in desk.told.read_text() for word in ("clicked", "new")), "the person's browser")
    assert "xdg-open" in desk.told.read_text()
    assert shown.look("location.pathname") == "/ui/"
    assert elsewhere.asked == []
    # Nothing of the window is within reach of a page.
    assert shown.look("[typeof window.qt, typeof window.pywebview, typeof window.QWebChannel].join()") == ",".join(
        ["undefined"] * 3
    )


def test_a_server_that_ends_and_comes_back_elsewhere_is_found_again(desk: Desk) -> None:
    shown = desk.show()
    shown.at("/ui/")
    before = shown.look("location.origin")
    os.kill(desk.server, signal.SIGKILL)
    until(lambda: shown.look("location.origin") != before, "another server")
    assert "Overview" in shown.at("/ui/")
    assert desk.server


@pytest.mark.parametrize("name", ["", ":77777"])
def test_without_a_screen_it_says_what_shows_the_same(desk: Desk, name: str) -> None:
    done = desk.words("desktop", DISPLAY=name)
    assert done.returncode == 4
    assert "no screen" in done.stderr
    assert "restante tui" in done.stderr
    assert desk.server == 0


def test_a_second_start_is_told_of_a_window_that_does_not_answer(desk: Desk) -> None:
    shown = desk.show()
    shown.process.send_signal(signal.SIGSTOP)
    try:
        done = desk.words("desktop")
    finally:
        shown.process.send_signal(signal.SIGCONT)
    assert done.returncode == 5
    assert "does not answer" in done.stderr
