"""What the pages do in a browser over a day: times that go on, notices, an app on the desk, small and spoken pages."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect
from tests.faces.http.api import eventually
from tests.faces.web.test_entering import ask, cookie_of

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.faces.web.conftest import Ground

pytestmark = pytest.mark.slow

WATCHING = """
window.told = [];
window.Notification = class {
  static permission = "granted";
  static requestPermission() { return Promise.resolve("granted"); }
  constructor(title, options) { window.told.push(title + ": " + options.body); }
};
Object.defineProperty(document, "hidden", { get: () => window.away === true });
"""


def told_pages(ground: Ground) -> dict[str, str]:
    """Return further pages that have something to show, by name."""
    target, other = (ground.api.actor(name, workingDir=str(ground.worktree)) for name in ("target", "other"))
    for text in ("one", "two"):
        other.post(target, text, conversation="talk", subject="A subject that is long enough to need a second line")
    ground.person_posts(target, "a-word-that-is-far-too-long-for-any-screen-" * 20)
    target.post(other, "back")
    return {
        "mailbox": f"/mailbox?at=session:{target.id}",
        "worktree": f"/worktrees?path={quote(str(ground.worktree))}",
        "error": "/mailbox?at=session:nobody",
        "overview": "/",
        "settings": "/settings",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["mailbox", "worktree", "error", "overview", "settings"])
def test_pages_with_something_on_them_are_accessible(
    page: Page, ground: Ground, faults: list[str], name: str, scheme: str
) -> None:
    path = told_pages(ground)[name]
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(ground.ui + path)
    if name == "overview":
        expect(page.locator("svg.graph line")).to_have_count(3)
    # With everything open that opens.
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    faults[:] = [one for one in faults if "404" not in one]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_that_asks_who_one_is_is_accessible(
    page: Page, ground: Ground, faults: list[str], scheme: str
) -> None:
    page.context.clear_cookies()
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{ground.ui}/")
    expect(page.locator("h1")).to_have_text("Who are you?")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    faults[:] = [one for one in faults if "401" not in one]


@pytest.mark.parametrize("name", ["mailbox", "worktree", "error", "overview", "settings"])
def test_pages_with_something_on_them_fit_360_pixels(page: Page, ground: Ground, faults: list[str], name: str) -> None:
    path = told_pages(ground)[name]
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(ground.ui + path)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    faults[:] = [one for one in faults if "404" not in one]


def test_how_long_ago_something_was_goes_on_while_nothing_happens(page: Page, ground: Ground) -> None:
    page.clock.install()
    page.goto(f"{ground.ui}/")
    with page.expect_response("**/part/sessions*"):
        page.clock.fast_forward(31_000)


def test_a_notice_says_how_many_are_unseen_to_whoever_asked_for_it_and_looks_elsewhere(
    page: Page, ground: Ground
) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, "a word that no notice says")
    page.add_init_script(WATCHING)
    page.goto(f"{ground.ui}/settings")
    page.get_by_role("button", name="Tell me when more becomes unseen").click()
    expect(page.locator("#notices")).to_have_text("You are told while the overview is open, in whichever tab")
    page.goto(f"{ground.ui}/")
    page.evaluate("htmx.trigger('#live', 'sse:changed')")
    expect(page).to_have_title("(1) Overview · Restante")
    page.evaluate("window.away = true")
    ground.person_posts(target, "and another")
    eventually(lambda: page.evaluate("window.told") == ["Restante: 2 unseen"])


def test_the_page_can_be_installed_as_an_app(page: Page, ground: Ground) -> None:
    page.goto(f"{ground.ui}/")
    session = page.context.new_cdp_session(page)
    manifest = session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert manifest["url"].startswith(f"{ground.ui}/static/app.webmanifest")
    wrong = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    # A browser without a window of its own installs nothing.
    assert [one["errorId"] for one in wrong if one["errorId"] != "in-incognito"] == []


def test_a_conversation_is_gone_on_with_from_its_mailbox(page: Page, ground: Ground) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, "first", conversation="talk")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    page.get_by_role("link", name="write more on talk").click()
    expect(page.get_by_label("Conversation")).to_have_value("talk")
    page.get_by_label("Text", exact=True).fill("second")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".notice")).to_contain_text("Left for target")
    assert {one["conversation"] for one in target.read()["messages"]} == {"talk"}


def test_everything_that_is_chosen_in_writing_arrives(page: Page, ground: Ground) -> None:
    target = ground.api.actor("target")
    page.goto(f"{ground.ui}/compose")
    page.get_by_label("To", exact=True).fill("target")
    page.get_by_label("Text", exact=True).fill("words")
    page.get_by_label("Priority").select_option("high")
    page.get_by_label("About").select_option("workspace")
    page.get_by_label("Subject").fill("subject")
    page.get_by_label("Expires in").fill("1h")
    page.get_by_role("button", name="Leave it", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("Left for target")
    message = target.read()["messages"][0]
    assert (message["priority"], message["scope"], message["subject"]) == ("high", "workspace", "subject")
    assert round((message["expiresAt"] - message["createdAt"]) / 3_600_000) == 1


def test_mail_that_comes_while_nobody_looks_is_in_the_line(ground: Ground) -> None:
    target = ground.api.actor("target")
    cookie = cookie_of(ground)
    assert ask(ground, "GET", "/ui/", cookie=cookie).status == 200
    ground.person_posts(target, "one")
    ground.person_posts(target, "two")
    shown = ask(ground, "GET", "/ui/part/sessions", cookie=cookie).body.decode()
    assert "now 2, at most 2" in shown
    assert len(shown.partition('polyline points="')[2].partition('"')[0].split()) >= 3
    assert ground.server.stop() == 0
