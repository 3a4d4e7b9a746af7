"""What a person does on the pages, with a real browser."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect
from tests.faces.http.api import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.faces.http.api import Actor
    from tests.faces.web.conftest import Ground

pytestmark = pytest.mark.slow

ATTACKS = (
    "<script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    "<svg/onload=window.hit=1>",
    '"><script>window.hit=1</script>',
    "' onmouseover='window.hit=1",
    "javascript:window.hit=1",
    "{{ 7 * 7 }}{% raw %}",
    "</pre></article><iframe srcdoc='<script>parent.hit=1</script>'>",
    "<div hx-get='/ui/settings' hx-trigger='load' hx-swap='outerHTML'>",
    "<a href='data:text/html,<script>1</script>'>x</a>",
    "\x1b[31mred\x1b[0m \x9b2J \u202etxt.exe",
    "<form action='/ui/settings' method='post'><button name='persistence' value='on'>",
)
PAGES = ("/", "/compose", "/approvals", "/worktrees", "/repeats", "/monitors", "/settings")


def session_in(ground: Ground, name: str, **told: object) -> Actor:
    return ground.api.actor(name, workingDir=str(ground.worktree), **told)


def test_the_one_that_idles_with_unseen_mail_stands_first_and_news_come_by_themselves(
    page: Page, ground: Ground, picture: Callable[[Page, str], None]
) -> None:
    busy, idle = session_in(ground, "busy"), session_in(ground, "idle")
    for one in (busy, idle):
        one.ask("POST", f"/sessions/{one.id}/turn", {"ended": False})
    idle.ask("POST", f"/sessions/{idle.id}/turn", {"ended": True})
    ground.person_posts(busy, "for the busy one")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    ground.person_posts(idle, "for the idle one")
    expect(rows.first).to_contain_text("idle")
    expect(rows.first).to_contain_text("has not read its mail")
    expect(page).to_have_title(re.compile(r"^\(2\)"))
    picture(page, "overview")


def test_sessions_that_wait_for_each_other_are_named_and_drawn(page: Page, ground: Ground) -> None:
    one, other = session_in(ground, "planner"), session_in(ground, "worker")
    for each in (one, other):
        each.ask("POST", f"/sessions/{each.id}/turn", {"ended": False})
        each.ask("POST", f"/sessions/{each.id}/turn", {"ended": True})
    one.post(other, "your turn")
    other.post(one, "no, yours")
    expect(page.locator(".notice")).to_contain_text("wait for each other")
    expect(page.locator("svg.graph line")).to_have_count(2)


@pytest.mark.parametrize("attack", ATTACKS)
def test_text_of_others_is_never_run(page: Page, ground: Ground, attack: str) -> None:
    # Names and subjects with what is not to be seen are refused by the server.
    tame = "".join(letter for letter in attack if letter.isprintable())
    target, sender = session_in(ground, "target"), session_in(ground, tame[:60])
    posted = sender.post(target, attack, subject=tame[:80])
    assert posted.status == 200, posted
    number = posted.data["message"]["id"]
    target.ask("POST", f"/sessions/{target.id}/inbox/ack", {"ids": [number], "action": "applied", "summary": attack})
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    shown = page.locator(".body").first.inner_text()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    if attack.isprintable():
        assert shown == attack
    page.goto(f"{ground.ui}/")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.wait_for_timeout(200)
    assert page.evaluate("window.hit") is None
    assert page.locator("iframe").count() == 0


def test_a_mailbox_shows_what_became_of_each_message(
    page: Page, ground: Ground, picture: Callable[[Page, str], None]
) -> None:
    target, sender = session_in(ground, "target"), session_in(ground, "sender")
    message = sender.post(target, "please run the tests").data["message"]["id"]
    target.read()
    target.ask(
        "POST", f"/sessions/{target.id}/inbox/ack", {"ids": [message], "action": "applied", "summary": "all green"}
    )
    sender.post(target, "and now the others", conversation="tests")
    sender.post(target, "quickly", conversation="tests")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    letters = page.locator("main article")
    expect(letters.nth(0)).to_contain_text("quickly")
    steps = page.locator("article", has_text="please run the tests").locator(".steps")
    for word in ("queued", "seen", "applied", "all green"):
        expect(steps).to_contain_text(word)
    expect(page.locator("details summary")).to_contain_text("2 messages")
    picture(page, "mailbox")
    page.click("text=answered")
    expect(page.locator("main article")).to_have_count(1)
    expect(page.locator("main article")).to_contain_text("please run the tests")


@pytest.mark.parametrize("home", ["session", "worktree"])
def test_a_page_says_why_a_message_was_not_answered(page: Page, ground: Ground, home: str) -> None:
    target = session_in(ground, "target")
    if home == "session":
        ground.person_posts(target, "hello")
        address = f"session:{target.id}"
    else:
        assert ground.restante("send", "hello").returncode == 0
        address = f"worktree:{ground.worktree}"
    page.goto(f"{ground.ui}/mailbox?at={address}")
    page.get_by_role("button", name="Why did nothing happen?").click()
    told = json.loads(ground.restante("why", page.locator("article h2").first.inner_text(), "--json").stdout)
    expect(page.locator(".why")).to_contain_text(told["why"]["sentence"].partition(" (")[0][:40])


def test_looking_marks_nothing(page: Page, ground: Ground) -> None:
    target = session_in(ground, "target")
    ground.person_posts(target, "still unseen")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    expect(page.locator(".body")).to_have_text("still unseen")
    assert target.counts()["unseen"] == 1


def test_the_bytes_of_a_message_are_text_and_nothing_else(page: Page, ground: Ground) -> None:
    target = session_in(ground, "target")
    ground.person_posts(target, "<script>1</script>")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    with page.expect_response("**/raw*") as answer:
        page.click("text=as bytes")
    assert answer.value.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.value.body() == b"<script>1</script>"


def test_writing_with_the_keyboard_alone_and_a_second_word_for_what_was_found(page: Page, ground: Ground) -> None:
    target = session_in(ground, "target")
    page.goto(f"{ground.ui}/compose")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.get_by_label("To", exact=True).focus()
    page.keyboard.type(f"session:{target.id}")
    page.keyboard.press("Tab")
    page.keyboard.type("the key is ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    expect(page.locator("#findings")).to_contain_text("GitHub token")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Leave it anyway")).to_be_visible()
    assert target.counts()["unseen"] == 0
    page.get_by_role("button", name="Leave it anyway").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".notice")).to_contain_text("Left for target")
    assert [one["text"] for one in target.read()["messages"]] == ["the key is ghp_abcdefghijklmnopqrstuvwxyz0123456789"]


def test_a_text_arrives_as_it_was_typed(page: Page, ground: Ground) -> None:
    target = session_in(ground, "target")
    text = "\nfirst\n\n  second\ttab «ünï» 🙂\nlast"
    page.goto(f"{ground.ui}/compose?to=session:{target.id}")
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Leave it", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("Left for target")
    assert target.read()["messages"][0]["text"] == text


def test_a_session_is_written_to_by_what_it_is_called(page: Page, ground: Ground) -> None:
    target = session_in(ground, "target")
    page.goto(f"{ground.ui}/compose")
    page.get_by_label("To", exact=True).fill("target")
    page.get_by_label("Text", exact=True).fill("by name")
    page.get_by_role("button", name="Leave it", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("Left for target")
    assert [one["text"] for one in target.read()["messages"]] == ["by name"]


@pytest.mark.parametrize("to", ["session:nobody", "nobody"])
def test_what_cannot_be_left_keeps_the_text_and_says_why(
    page: Page, ground: Ground, faults: list[str], to: str
) -> None:
    page.goto(f"{ground.ui}/compose?to={to}")
    page.get_by_label("Text", exact=True).fill("do not lose me")
    page.get_by_role("button", name="Leave it", exact=True).click()
    expect(page.locator(".error")).to_contain_text("nobody")
    expect(page.get_by_label("Text", exact=True)).to_have_value("do not lose me")
    faults.clear()


def test_hooks_are_installed_as_shown(page: Page, ground: Ground, picture: Callable[[Page, str], None]) -> None:
    session_in(ground, "worker")
    page.goto(f"{ground.ui}/worktrees")
    page.click("main table a >> nth=0")
    expect(page.locator("pre.body")).to_contain_text(".codex/hooks.json")
    picture(page, "worktree")
    page.get_by_role("button", name="Install as shown").click()
    expect(page.locator(".notice")).to_contain_text("Installed")
    assert (ground.worktree / ".codex" / "hooks.json").exists()
    assert (ground.worktree / ".claude" / "settings.local.json").exists()
    assert ground.restante("install", "--check").returncode == 0


def test_nothing_is_installed_that_was_not_shown(page: Page, ground: Ground, faults: list[str]) -> None:
    session_in(ground, "worker")
    page.goto(f"{ground.ui}/worktrees?path={ground.worktree}")
    (ground.worktree / "AGENTS.md").write_text("# Changed meanwhile\n")
    page.get_by_role("button", name="Install as shown").click()
    expect(page.locator(".error")).to_contain_text("changed since you looked")
    assert not (ground.worktree / ".codex").exists()
    faults.clear()


def test_a_worktree_is_written_to_and_repeats_are_paused_and_removed(page: Page, ground: Ground) -> None:
    session_in(ground, "worker")
    page.goto(f"{ground.ui}/compose?to=worktree:{ground.worktree}")
    page.get_by_label("Text", exact=True).fill("mind the tests")
    page.get_by_label("Repeat every").fill("30m")
    page.get_by_role("button", name="Leave it", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("Left for tree")
    assert "mind the tests" in (ground.worktree / ".codex-mailbox" / "INBOX.md").read_text()
    page.goto(f"{ground.ui}/repeats")
    expect(page.locator("article")).to_contain_text("every 30m · posted 0 times · active")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("article")).to_contain_text("paused")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator(".empty")).to_be_visible()
    page.goto(f"{ground.ui}/mailbox?at=worktree:{ground.worktree}")
    expect(page.locator(".body")).to_have_text("mind the tests")


def test_mail_is_kept_on_disk_when_the_person_says_so(page: Page, ground: Ground) -> None:
    page.goto(f"{ground.ui}/settings")
    page.get_by_role("button", name="Keep it on disk").click()
    expect(page.get_by_text("It is kept on disk.")).to_be_visible()
    ground.person_posts(session_in(ground, "worker"), "kept")
    assert (ground.server.data / "mail.db").exists()
    page.get_by_role("button", name="Keep it in memory only").click()
    expect(page.get_by_text("It is in memory only")).to_be_visible()
    eventually(lambda: not (ground.server.data / "mail.db").exists())


def test_ten_thousand_messages_are_shown_a_window_at_a_time(page: Page, ground: Ground) -> None:
    target = session_in(ground, "target")
    inbox = ground.worktree / ".codex-mailbox"
    assert ground.restante("send", "the first of all").returncode == 0
    block = (inbox / "INBOX.md").read_text()
    head, _, one = block.partition("\n---\n")
    parts = []
    for number in range(10_000):
        stamp = f"msg_20260101T000000_{number:026d}".replace("I", "J")
        text = re.sub(r"msg_\w+", stamp, one, count=1).replace("the first of all", f"text {number:06d} .....")
        parts.append("\n---\n" + re.sub(r"body_bytes: \d+", "body_bytes: 17", text))
    (inbox / "INBOX.md").write_text(head + "".join(parts))
    page.goto(f"{ground.ui}/mailbox?at=worktree:{ground.worktree}")
    expect(page.locator("main article")).to_have_count(50)
    expect(page.locator("main article").first).to_contain_text("text 009999")
    page.get_by_role("button", name="Older").click()
    expect(page.locator("main article")).to_have_count(100)
    assert target.id


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible_in_light_and_dark(page: Page, ground: Ground, path: str, scheme: str) -> None:
    target = session_in(ground, "target")
    ground.person_posts(target, "hello", subject="A subject")
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(ground.ui + path)
    if path == "/":
        expect(page.locator("tbody tr")).to_have_count(1)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("path", PAGES)
def test_pages_fit_a_screen_of_360_pixels(
    page: Page, ground: Ground, path: str, picture: Callable[[Page, str], None]
) -> None:
    ground.person_posts(session_in(ground, "a-name-that-is-rather-long-for-so-small-a-screen"), "hello")
    page.set_viewport_size({"width": 360, "height": 700})
    page.goto(ground.ui + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    picture(page, "small")


def test_a_server_that_ends_is_said_to_be_gone(page: Page, ground: Ground, faults: list[str]) -> None:
    expect(page.locator("#connection")).to_have_text("live")
    ground.server.stop()
    expect(page.locator("#connection")).to_contain_text("not connected")
    faults.clear()
