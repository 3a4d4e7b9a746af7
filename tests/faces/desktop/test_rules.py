"""Where the window may go."""

from __future__ import annotations

import pytest

from restante.faces.desktop.rules import Fate, Origin, bare, fate_of, origin_of, page_of, worktree_at

OWN = Origin("http", "127.0.0.1", 8377)
HERE = "http://127.0.0.1:8377"


@pytest.mark.parametrize(
    "path", ["/ui", "/ui/", "/ui/enter?key=k", "/ui/mailbox?at=worktree:/a", "/ui/static/app.css?v=1"]
)
def test_pages_of_the_server_are_shown(path: str) -> None:
    for is_click in (True, False):
        assert fate_of(HERE + path, OWN, is_click=is_click, is_main=True) is Fate.HERE


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "https://127.0.0.1:8377/ui/",
        "http://127.0.0.1:8378/ui/",
        "http://127.0.0.1/ui/",
        "http://localhost:8377/ui/",
        "http://127.0.0.1.example.com:8377/ui/",
        "http://[::1]:8377/ui/",
    ],
)
def test_another_server_is_for_the_persons_browser_and_only_after_a_click(url: str) -> None:
    assert fate_of(url, OWN, is_click=True, is_main=True) is Fate.BROWSER
    assert fate_of(url, OWN, is_click=False, is_main=True) is Fate.NOWHERE
    assert fate_of(url, OWN, is_click=True, is_main=False) is Fate.NOWHERE


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,<p>",
        "ftp://example.com/",
        "restante:folder",
        "about:blank",
        "",
        "http://",
        "http://127.0.0.1:8377@example.com/ui/",
        "http://example.com\\@127.0.0.1:8377/ui/",
        "http://127.0.0.1:99999999/ui/",
        "http://[::1/ui/",
        f"{HERE}/",
        f"{HERE}/api/v1/sessions",
        f"{HERE}/uix",
        f"{HERE}/metrics",
    ],
)
def test_what_is_neither_is_refused_whoever_wants_to_go_there(url: str) -> None:
    for is_click in (True, False):
        assert fate_of(url, OWN, is_click=is_click, is_main=True) is Fate.NOWHERE


def test_the_folder_dialog_is_for_a_click_in_the_page_itself() -> None:
    url = f"{HERE}/ui/desktop/folder"
    assert fate_of(url, OWN, is_click=True, is_main=True) is Fate.FOLDER
    assert fate_of(url, OWN, is_click=False, is_main=True) is Fate.NOWHERE
    assert fate_of(url, OWN, is_click=True, is_main=False) is Fate.NOWHERE


def test_a_port_that_is_not_written_is_the_usual_one() -> None:
    assert origin_of("https://mail.example/ui/") == Origin("https", "mail.example", 443)
    assert origin_of("http://[::1]/ui/") == Origin("http", "::1", 80)
    assert page_of(Origin("http", "::1", 80), "") == "http://[::1]:80/ui/"


@pytest.mark.parametrize("worktree", ["", "/a/b", "/a b/ü&at=x#y?z", "/a%2Fb+c"])
def test_a_page_says_which_worktree_it_is_about(worktree: str) -> None:
    assert worktree_at(page_of(OWN, worktree)) == worktree


def test_a_mailbox_of_a_worktree_is_about_it_and_other_pages_are_about_none() -> None:
    assert worktree_at(f"{HERE}/ui/mailbox?at=worktree%3A%2Fa%2Fb&show=all") == "/a/b"
    for path in ("/ui/mailbox?at=session:1", "/ui/mailbox", "/ui/compose", "/ui/worktrees", "/ui/enter?key=k"):
        assert worktree_at(HERE + path) is None


def test_a_name_and_a_password_in_an_address_do_not_come_into_the_window() -> None:
    assert bare("https://ann:secret@mail.example:8443/ui/enter?key=a@b") == "https://mail.example:8443/ui/enter?key=a@b"
    assert bare(f"{HERE}/ui/enter?key=k") == f"{HERE}/ui/enter?key=k"
    assert bare("") == ""
