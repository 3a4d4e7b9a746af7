"""Searching the texts of a mailbox on the page: allowed first, by the owner, in every home, without a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import expect
from tests.faces.web.test_entering import ask, cookie_of

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.faces.http.api import Answer
    from tests.faces.web.conftest import Ground

CANARY = "canary-4711"


def csrf_in(body: bytes) -> str:
    return body.partition(b'name="csrf" value="')[2].partition(b'"')[0].decode()


def look(ground: Ground, cookie: str, address: str, find: str) -> Answer:
    return ask(ground, "GET", f"/ui/mailbox?at={quote(address)}&find={quote(find)}", cookie=cookie)


def allow(ground: Ground, cookie: str, word: str = "on") -> Answer:
    form = {"csrf": csrf_in(ask(ground, "GET", "/ui/settings", cookie=cookie).body), "search": word}
    return ask(ground, "POST", "/ui/settings", cookie=cookie, body=urlencode(form))


def test_no_text_is_searched_before_the_owner_allows_it(ground: Ground) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, f"here is the {CANARY}")
    cookie = cookie_of(ground)
    refused = look(ground, cookie, f"session:{target.id}", CANARY)
    assert refused.status == 403
    assert b"unless you allow it" in refused.body
    assert b'type="search"' not in ask(ground, "GET", f"/ui/mailbox?at=session:{target.id}", cookie=cookie).body
    assert allow(ground, cookie).status == 303
    assert b"here is the" in look(ground, cookie, f"session:{target.id}", CANARY).body
    assert b"here is the" not in look(ground, cookie, f"session:{target.id}", "anything else").body
    allow(ground, cookie, "off")
    assert look(ground, cookie, f"session:{target.id}", CANARY).status == 403


@pytest.mark.parametrize("home", ["role", "worktree"])
def test_mail_of_every_home_is_searched_where_it_is_allowed(ground: Ground, home: str) -> None:
    ground.api.actor("worker", workingDir=str(ground.worktree))
    if home == "role":
        address = "team/reviewer"
        assert ground.restante("join", address).returncode == 0
        assert ground.restante("post", address, f"here is the {CANARY}").returncode == 0
    else:
        address = f"worktree:{ground.worktree}"
        assert ground.restante("send", f"here is the {CANARY}").returncode == 0
    cookie = cookie_of(ground)
    assert look(ground, cookie, address, CANARY).status == 403
    allow(ground, cookie)
    assert b"here is the" in look(ground, cookie, address, CANARY).body
    assert b"Nothing fits" in look(ground, cookie, address, "anything else").body


def test_an_account_searches_its_own_mail_alone_and_decides_for_itself(ground: Ground) -> None:
    target = ground.api.actor("mine")
    ground.person_posts(target, f"here is the {CANARY}")
    allow(ground, cookie_of(ground))
    ground.api.ask("POST", "/accounts", {"name": "ada", "password": "correct horse"}, ground.server.person())
    entered = ask(ground, "POST", "/ui/enter", body="name=ada&password=correct+horse")
    cookie = entered.headers["set-cookie"].partition(";")[0]
    assert look(ground, cookie, f"session:{target.id}", CANARY).status in (403, 404)
    assert allow(ground, cookie).status == 303
    answer = look(ground, cookie, f"session:{target.id}", CANARY)
    assert answer.status == 404
    assert b"here is the" not in answer.body


def test_what_is_looked_for_and_found_is_in_no_file_and_no_log(ground: Ground) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, f"here is the {CANARY}")
    cookie = cookie_of(ground)
    allow(ground, cookie)
    assert b"here is the" in look(ground, cookie, f"session:{target.id}", CANARY).body
    for path in ground.server.data.rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path
    assert ground.server.stop() == 0
    assert CANARY not in str(ground.server.log) + str(ground.server.words)


def test_no_agent_is_let_search(ground: Ground) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, f"here is the {CANARY}")
    allow(ground, cookie_of(ground))
    answer = ask(ground, "GET", f"/ui/mailbox?at=session:{target.id}&find=x", **target.proof)
    assert answer.status == 401


def test_what_stands_out_in_a_text_makes_nothing_of_it_run(ground: Ground) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, "<script>1</script> & <mark>")
    cookie = cookie_of(ground)
    allow(ground, cookie)
    body = look(ground, cookie, f"session:{target.id}", "script <mark>").body
    assert b"&lt;<mark>script</mark>&gt;1&lt;/<mark>script</mark>&gt; &amp; <mark>&lt;mark&gt;</mark>" in body


@pytest.mark.slow
def test_a_person_allows_it_searches_and_sees_where_it_stands(page: Page, ground: Ground) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, "<b>the Parser</b> of lists")
    ground.person_posts(target, "something else")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    page.locator("main").get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Allow it", exact=True).click()
    expect(page.get_by_text("You allow it.")).to_be_visible()
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    expect(page.locator("main article")).to_have_count(2)
    page.get_by_label("Search in texts").fill("parser")
    page.get_by_label("Search in texts").press("Enter")
    expect(page.locator("main article")).to_have_count(1)
    expect(page.locator("mark")).to_have_text("Parser")
    expect(page.locator(".body")).to_have_text("<b>the Parser</b> of lists")
    page.get_by_label("Search in texts").fill("nowhere")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".empty")).to_have_text("Nothing fits the filter.")
