"""What goes wrong is told where it was asked for, as a page or within one, and never as nothing at all."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from playwright.sync_api import expect
from tests.faces.web.test_entering import ask, cookie_of

from restante.faces.http import paging
from restante.faces.http.sending import InternalError
from restante.faces.web.app import pages

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from starlette.types import ASGIApp
    from tests.faces.web.conftest import Ground

    from restante.domain.errors import RestanteError


class Answered(NamedTuple):
    status: int
    kind: str
    policy: str
    body: str


def asked(app: ASGIApp, path: str, *headers: tuple[str, str]) -> Answered:
    """Ask an application as a server would."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
        "headers": [(name.encode(), value.encode()) for name, value in headers],
    }
    # In a thread of its own: where a browser is open, this one has a loop that runs.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(app(scope, receive, send))).result()  # type: ignore[arg-type]
    told = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(one.get("body", b"") for one in sent[1:]).decode()
    return Answered(sent[0]["status"], told["content-type"], told["content-security-policy"], body)


class Broken:
    """A server on which everything that is asked fails, and which wrote down what did."""

    def __init__(self) -> None:
        self.faults: list[Exception] = []

    async def proof_of(self, owner: str) -> bytes:
        raise ZeroDivisionError(f"secret words of {owner}")

    def told(self, error: Exception) -> RestanteError:
        self.faults.append(error)
        return InternalError("the server failed to answer; it wrote down where", remedy="see its log")


COOKIE = ("cookie", "restante=YWRh.99999999999.x.signature")


def test_a_fault_of_the_server_is_a_page_that_says_so_and_no_more() -> None:
    hub = Broken()
    answer = asked(pages(hub), "/ui/", COOKIE)  # type: ignore[arg-type]
    assert answer.status == 500
    assert answer.kind.startswith("text/html")
    assert "That did not work" in answer.body
    assert "it wrote down where" in answer.body
    assert "secret words" not in answer.body
    assert [type(one) for one in hub.faults] == [ZeroDivisionError]


def test_a_fault_in_a_part_of_a_page_is_told_as_a_part() -> None:
    answer = asked(pages(Broken()), "/ui/part/why", COOKIE, ("hx-request", "true"))  # type: ignore[arg-type]
    assert answer.status == 500
    assert 'role="alert"' in answer.body
    assert "<html" not in answer.body


class _Metrics:
    def refused(self, code: str) -> None:
        self.last = code


class _Office:
    metrics = _Metrics()


@pytest.mark.parametrize(("path", "kind"), [("/ui/", "text/html"), ("/api/v1/ui/key", "application/json")])
def test_where_the_parts_for_pages_are_missing_a_page_says_so_and_the_api_its_envelope(
    monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    monkeypatch.setattr(paging, "_LODGING", paging._LODGING._replace(libraries=("no_library_of_this_name",)))
    answer = asked(paging.Pages(_Office(), {}), path)  # type: ignore[arg-type]
    assert answer.status == 409
    assert answer.kind.startswith(kind)
    assert "pip install" in answer.body
    assert "default-src 'none'" in answer.policy


def test_what_is_damaged_is_a_page_with_the_status_of_a_fault(ground: Ground) -> None:
    (ground.server.data / "teams.db").write_bytes(b"no database at all, but something else" * 200)
    answer = ask(ground, "GET", "/ui/mailbox?at=team/role", cookie=cookie_of(ground))
    assert answer.status >= 400
    assert answer.headers["content-type"].startswith("text/html")
    assert b"That did not work" in answer.body


@pytest.mark.parametrize("path", ["/ui/nothing", "/ui/static/nothing.js"])
def test_an_address_of_nothing_is_a_page(ground: Ground, path: str) -> None:
    answer = ask(ground, "GET", path)
    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert b"That did not work" in answer.body
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_api_answers_errors_in_its_envelope(ground: Ground) -> None:
    answer = ask(ground, "POST", "/api/v1/ui/key", body="{}")
    assert answer.status == 401
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.slow
def test_why_says_what_went_wrong_beside_the_button(page: Page, ground: Ground, faults: list[str]) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, "hello")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    button = page.get_by_role("button", name="Why did nothing happen?")
    page.evaluate(
        "document.querySelector('.why button').setAttribute('hx-get', '/ui/part/why?at=session:x&id=nothing')"
    )
    page.evaluate("htmx.process(document.querySelector('.why button'))")
    button.click()
    expect(page.locator(".why .error")).to_contain_text("nothing")
    expect(button).to_be_visible()
    faults.clear()


@pytest.mark.slow
def test_a_look_that_fails_is_said_above_what_was_there(page: Page, ground: Ground, faults: list[str]) -> None:
    target = ground.api.actor("target")
    ground.person_posts(target, "hello")
    page.goto(f"{ground.ui}/mailbox?at=session:{target.id}")
    expect(page.locator(".body")).to_have_text("hello")
    assert ground.api.ask("DELETE", f"/sessions/{target.id}", None, ground.server.person()).status == 200
    expect(page.locator(".error")).to_contain_text("no session")
    expect(page.locator(".body")).to_have_text("hello")
    faults.clear()


@pytest.mark.slow
def test_whoever_is_signed_out_while_writing_keeps_the_text(page: Page, ground: Ground, faults: list[str]) -> None:
    page.goto(f"{ground.ui}/compose")
    page.context.clear_cookies()
    page.get_by_label("Text", exact=True).fill("do not lose me")
    page.get_by_label("Text", exact=True).press("End")
    expect(page.locator(".error")).to_contain_text("signed out")
    expect(page.get_by_label("Text", exact=True)).to_have_value("do not lose me")
    faults.clear()
