"""What a person decides on the page of settings: how long mail lasts, who may ask, and how times are shown."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect
from tests.faces.web.test_entering import ask, cookie_of
from tests.faces.web.test_searching import csrf_in

from restante.wiring.sessions import open_exchange

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.faces.http.api import Answer
    from tests.faces.web.conftest import Ground

HOUR_MS = 3_600_000


def change(ground: Ground, cookie: str, path: str, **form: str) -> Answer:
    csrf = csrf_in(ask(ground, "GET", "/ui/settings", cookie=cookie).body)
    return ask(ground, "POST", f"/ui/{path}", cookie=cookie, body=urlencode({"csrf": csrf, **form}))


def account(ground: Ground, name: str = "ada") -> str:
    """Make an account, and return the cookie with which it entered."""
    given = {"name": name, "password": "correct horse"}
    assert ground.api.ask("POST", "/accounts", given, ground.server.person()).status == 200
    entered = ask(ground, "POST", "/ui/enter", body=urlencode(given))
    return entered.headers["set-cookie"].partition(";")[0]


def lasts(ground: Ground) -> int:
    """Return how long a message lasts that is posted now, in hours."""
    target = ground.api.actor("target")
    ground.person_posts(target, "hello")
    message = target.read()["messages"][0]
    return round(float(message["expiresAt"] - message["createdAt"]) / HOUR_MS)


def test_mail_lasts_as_the_owner_decides_and_again_as_configured(ground: Ground) -> None:
    cookie = cookie_of(ground)
    assert lasts(ground) == 12
    assert change(ground, cookie, "settings", lasts="2d").status == 303
    assert lasts(ground) == 48
    shown = ask(ground, "GET", "/ui/settings", cookie=cookie).body
    assert b"2d at most" in shown
    assert b"As you decided." in shown
    assert change(ground, cookie, "settings", lasts="").status == 303
    assert lasts(ground) == 12
    assert b"As the configuration says" in ask(ground, "GET", "/ui/settings", cookie=cookie).body


@pytest.mark.parametrize("word", ["1s", "366d", "soon", "-1h"])
def test_mail_lasts_no_other_time_than_can_be(ground: Ground, word: str) -> None:
    refused = change(ground, cookie_of(ground), "settings", lasts=word)
    assert refused.status == 400
    assert b"That did not work" in refused.body
    assert lasts(ground) == 12


def test_how_long_mail_lasts_is_each_owners_own_matter(ground: Ground) -> None:
    person = cookie_of(ground)
    ada = account(ground)
    assert change(ground, ada, "settings", lasts="3d").status == 303
    assert b"3d at most" in ask(ground, "GET", "/ui/settings", cookie=ada).body
    assert b"12h at most" in ask(ground, "GET", "/ui/settings", cookie=person).body


def test_the_person_whose_server_it_is_sees_every_owner_and_an_account_itself_alone(ground: Ground) -> None:
    ground.api.actor("mine")
    person = cookie_of(ground)
    ada = account(ground)
    ben = account(ground, "ben")
    listed = ask(ground, "GET", "/ui/settings", cookie=person).body
    assert b"you, whose server this is" in listed
    assert re.search(rb"ada.*?Remove ada.*ben.*?Remove ben", listed, re.DOTALL)
    own = ask(ground, "GET", "/ui/settings", cookie=ada).body
    assert b"ada" in own
    assert b"ben" not in own
    assert b"mine" not in own
    assert b"Your tokens" not in own
    assert change(ground, ada, "access", action="remove", what="ben").status == 403
    assert change(ground, ada, "access", action="renew").status == 403
    assert ask(ground, "GET", "/ui/", cookie=ben).status == 200
    assert change(ground, person, "access", action="remove", what="ben").status == 303
    assert ask(ground, "GET", "/ui/", cookie=ben).status == 401
    assert b"ben" not in ask(ground, "GET", "/ui/settings", cookie=person).body


def test_no_secret_is_shown_and_a_token_by_the_beginning_of_its_digest(ground: Ground) -> None:
    session = ground.api.actor("worker")
    ground.api.ask("POST", "/sessions", {"id": "b" * 32, "mode": "codex", "name": "bare"})
    shown = ask(ground, "GET", "/ui/settings", cookie=cookie_of(ground)).body.decode()
    token = (ground.server.data / "person").read_text().strip()
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert digest[:12] in shown
    for secret in (token, digest, session.secret, hashlib.sha256(session.secret.encode()).hexdigest()):
        assert secret not in shown
    assert re.search(r"worker</a>.*?proves it.*?just now", shown, re.DOTALL)
    assert "none: it is unverified" in shown


def test_a_new_token_signs_every_browser_out_and_the_old_one_proves_nothing(ground: Ground) -> None:
    one, other = cookie_of(ground), cookie_of(ground)
    old = ground.server.person()
    assert change(ground, one, "access", action="renew").status == 303
    assert [ask(ground, "GET", "/ui/", cookie=cookie).status for cookie in (one, other)] == [401, 401]
    assert ground.server.person() != old
    assert (ground.server.data / "person").stat().st_mode & 0o777 == 0o600
    assert ground.api.ask("POST", "/ui/key", {}, old).status == 401
    assert ask(ground, "GET", "/ui/settings", cookie=cookie_of(ground)).status == 200
    assert ground.restante("persist").returncode == 0


def test_a_token_of_another_machine_is_trusted_no_longer(ground: Ground) -> None:
    cookie = cookie_of(ground)
    elsewhere = "ab" * 32
    exchange = open_exchange({"RESTANTE_DATA": str(ground.server.data)})
    exchange.trust_person(elsewhere)
    exchange.close()
    proof = {"Authorization": f"Bearer {elsewhere}"}
    mark = hashlib.sha256(elsewhere.encode()).hexdigest()[:12]
    assert mark.encode() in ask(ground, "GET", "/ui/settings", cookie=cookie).body
    assert ground.api.ask("POST", "/ui/key", {}, proof).status == 200
    assert change(ground, cookie, "access", action="distrust", what=mark).status == 303
    assert ground.api.ask("POST", "/ui/key", {}, proof).status == 401
    assert ground.api.ask("POST", "/ui/key", {}, ground.server.person()).status == 200


def test_a_session_is_ended_with_its_mail_and_its_secret_proves_nothing(ground: Ground) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, "hello")
    cookie = cookie_of(ground)
    assert change(ground, cookie, "access", action="end", what=target.id).status == 303
    assert target.ask("GET", f"/sessions/{target.id}/inbox").status == 404
    assert change(ground, cookie, "access", action="nothing", what="").status == 400


@pytest.mark.slow
def test_what_ends_something_needs_a_second_step(page: Page, ground: Ground) -> None:
    ground.api.actor("worker")
    page.goto(f"{ground.ui}/settings")
    sure = page.get_by_role("button", name="End worker, with its mail")
    expect(sure).to_be_hidden()
    page.locator("summary", has_text="End it").click()
    sure.click()
    expect(page.locator("main")).to_contain_text("No session has registered yet")


@pytest.mark.slow
def test_a_person_says_how_long_mail_lasts_and_how_times_are_shown(page: Page, ground: Ground) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, "hello")
    page.goto(f"{ground.ui}/settings")
    page.get_by_label("From now on").fill("7d")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_label("From now on")).to_have_value("7d")
    page.get_by_label("Show them as").select_option("both")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    time = page.locator("article time").first
    expect(time).to_contain_text("ago" if "ago" in time.inner_text() else "just now")
    expect(time.locator(".exact")).to_be_visible()
    expect(time.locator(".exact")).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$"))
    page.goto(f"{ground.ui}/settings")
    expect(page.get_by_label("Show them as")).to_have_value("both")
    page.get_by_label("Show them as").select_option("ago")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    expect(page.locator("article time .exact").first).to_be_hidden()
