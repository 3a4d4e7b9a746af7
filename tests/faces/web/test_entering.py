"""Who may see the pages: whoever has a key that only the person can get, once; and what every answer carries."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import Answer

if TYPE_CHECKING:
    from tests.faces.web.conftest import Ground

PATHS = (
    "/",
    "/part/sessions",
    "/part/around",
    "/part/picture",
    "/mailbox?at=session:x",
    "/part/messages?at=session:x",
    "/raw?at=session:x&number=1",
    "/compose",
    "/approvals",
    "/worktrees",
    "/repeats",
    "/monitors",
    "/settings",
    "/events",
)
FORMS = ("/compose", "/part/findings", "/approvals", "/worktrees", "/repeats", "/monitors", "/settings", "/access")


def ask(ground: Ground, method: str, path: str, *, cookie: str = "", body: str = "", **headers: str) -> Answer:
    """Ask as a browser would, without following where it is sent."""
    connection = http.client.HTTPConnection(ground.api.host, ground.api.port, timeout=30)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if cookie:
        sent["Cookie"] = cookie
    if body:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request(method, path, body or None, sent)
    response = connection.getresponse()
    told = {name.lower(): value for name, value in response.getheaders()}
    # A stream has no end to wait for.
    answer = Answer(response.status, told, b"" if "event-stream" in told.get("content-type", "") else response.read())
    connection.close()
    return answer


def cookie_of(ground: Ground) -> str:
    answer = ask(ground, "GET", ground.key_path())
    assert answer.status == 303, answer
    return answer.headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize("path", PATHS)
def test_no_page_is_shown_to_whoever_has_not_entered(shared: Ground, path: str) -> None:
    answer = ask(shared, "GET", f"/ui{path}")
    assert answer.status == 401
    assert b"restante ui" in answer.body
    assert ask(shared, "GET", f"/ui{path}", cookie="restante=e30.9999999999.x.forged").status == 401


@pytest.mark.parametrize("path", FORMS)
def test_no_form_is_taken_that_is_not_from_a_page_of_ours(shared: Ground, path: str) -> None:
    cookie = cookie_of(shared)
    assert ask(shared, "POST", f"/ui{path}", cookie=cookie, body="persistence=on").status == 403
    assert ask(shared, "POST", f"/ui{path}", cookie=cookie, body="csrf=guessed&persistence=on").status == 403
    assert ask(shared, "POST", f"/ui{path}", cookie=cookie, body="csrf=x", Origin="http://evil.example").status == 403


def test_a_key_lets_in_once(shared: Ground) -> None:
    path = shared.key_path()
    assert ask(shared, "GET", path).status == 303
    assert ask(shared, "GET", path).status == 401
    assert ask(shared, "GET", "/ui/enter?key=guessed").status == 401


def test_another_site_lets_no_browser_in(shared: Ground) -> None:
    path = shared.key_path()
    # As a link or a form of it leads here; what its scripts ask for in the background does not come that far.
    crossing = ask(shared, "GET", path, **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
    assert crossing.status == 401
    assert ask(shared, "GET", path, **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status == 403
    assert "set-cookie" not in crossing.headers
    assert ask(shared, "GET", path, **{"Sec-Fetch-Site": "none"}).status == 303


def test_only_the_person_gets_a_key(shared: Ground) -> None:
    session = shared.api.actor("worker")
    assert shared.api.ask("POST", "/ui/key", {}, session.proof).status == 401
    assert shared.api.ask("POST", "/ui/key", {}).status == 401
    assert shared.api.ask("POST", "/ui/key", {}, {"Authorization": "Bearer nothing"}).status == 401


def test_an_agent_that_asks_for_the_page_is_refused(shared: Ground) -> None:
    shared.server.person()
    done = shared.restante("ui", "--no-browser", CODEX_THREAD_ID="thread-1")
    assert done.returncode == 4
    assert "for the person" in done.stderr


def test_a_person_gets_an_address_that_opens_the_page(shared: Ground) -> None:
    done = shared.restante("ui", "--no-browser")
    assert done.returncode == 0, done.stderr
    path = done.stdout.strip().rpartition(shared.api.url)[2]
    assert ask(shared, "GET", path).status == 303


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(shared: Ground) -> None:
    answer = ask(shared, "GET", shared.key_path())
    words = answer.headers["set-cookie"].lower()
    assert "httponly" in words
    assert "samesite=strict" in words
    assert "path=/ui" in words


@pytest.mark.parametrize("path", [one for one in PATHS if "session:x" not in one and one != "/events"])
def test_every_page_lets_nothing_in_and_stands_in_no_frame(shared: Ground, path: str) -> None:
    answer = ask(shared, "GET", f"/ui{path}", cookie=cookie_of(shared))
    assert answer.status == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_a_name_that_is_not_this_machines_is_refused(shared: Ground) -> None:
    assert ask(shared, "GET", "/ui/", cookie=cookie_of(shared), Host="rebound.example").status == 403


def test_leaving_takes_the_cookie_away(shared: Ground) -> None:
    answer = ask(shared, "POST", "/ui/leave", cookie=cookie_of(shared), body="x=1")
    assert answer.status == 303
    assert "max-age=0" in answer.headers["set-cookie"].lower()


def test_a_new_token_shuts_every_browser_out(ground: Ground) -> None:
    cookie = cookie_of(ground)
    token = ground.server.data / "person"
    text = token.read_text()
    token.write_text(text[::-1].strip() + "\n")
    assert ask(ground, "GET", "/ui/", cookie=cookie).status == 401


def test_files_of_pages_are_kept_by_browsers_and_named_by_their_content(shared: Ground) -> None:
    answer = ask(shared, "GET", "/ui/static/app.css")
    assert answer.status == 200
    assert "immutable" in answer.headers["cache-control"]
    assert ask(shared, "GET", "/ui/static/..%2f__init__.py").status == 404
    assert ask(shared, "GET", "/ui/static/nothing.css").status == 404


def test_accounts_enter_by_name_and_password_and_see_their_own_alone(ground: Ground) -> None:
    ground.person_posts(ground.api.actor("mine"), "for the person alone")
    added = ground.api.ask("POST", "/accounts", {"name": "ada", "password": "correct horse"}, ground.server.person())
    assert added.status == 200, added
    assert b'name="password"' in ask(ground, "GET", "/ui/").body
    wrong = ask(ground, "POST", "/ui/enter", body="name=ada&password=wrong")
    assert wrong.status == 401
    right = ask(ground, "POST", "/ui/enter", body="name=ada&password=correct+horse")
    assert right.status == 303
    shown = ask(ground, "GET", "/ui/", cookie=right.headers["set-cookie"].partition(";")[0])
    assert shown.status == 200
    assert b"mine" not in shown.body
    assert b"0 sessions" in shown.body
    settings = ask(ground, "GET", "/ui/settings", cookie=right.headers["set-cookie"].partition(";")[0])
    assert settings.status == 200
    assert b"127.0.0.1" not in settings.body.partition(b"server.host")[2].partition(b"</td>")[0]


def test_what_is_no_form_is_refused_and_is_no_fault_of_the_server(ground: Ground) -> None:
    kind = {"Content_Type": "multipart/form-data; boundary=x"}
    many = (
        "".join(f'--x\r\nContent-Disposition: form-data; name="f{at}"\r\n\r\nv\r\n' for at in range(1500)) + "--x--\r\n"
    )
    cookie = cookie_of(ground)
    for path, given in (("/ui/enter", ""), ("/ui/settings", cookie)):
        for body, headers in ((many, kind), ("zz", {"Content_Type": "multipart/form-data"})):
            connection = http.client.HTTPConnection(ground.api.host, ground.api.port, timeout=30)
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request("POST", path, body, sent | ({"Cookie": given} if given else {}))
            answer = connection.getresponse()
            assert answer.status in (400, 401), path
            assert b"this is no form" in answer.read()
            connection.close()
    assert "fault" not in [one["event"] for one in ground.server.log]
