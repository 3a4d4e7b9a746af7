"""The pictures that README and docs show: one story, told by real pages. ``make screenshots`` keeps them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page
    from tests.faces.http.api import Actor
    from tests.faces.web.conftest import Ground

pytestmark = pytest.mark.slow


def _turn(actor: Actor, *, has_ended: bool) -> None:
    for ended in (False, True) if has_ended else (False, True, False):
        actor.ask("POST", f"/sessions/{actor.id}/turn", {"ended": ended})


def test_the_pictures_of_the_story(page: Page, ground: Ground, tmp_path: Path) -> None:
    place = os.environ.get("RESTANTE_TEST_SCREENSHOTS") or str(tmp_path / "pictures")
    os.makedirs(place, exist_ok=True)
    names = ("planner", "parser", "tests", "docs")
    planner, parser, tests, docs = (
        ground.api.actor(name, mode="codex" if number % 2 else "claude") for number, name in enumerate(names)
    )
    for one, has_ended in ((planner, True), (parser, False), (tests, True), (docs, True)):
        _turn(one, has_ended=has_ended)
    done = planner.post(parser, "The grammar is in grammar.md. Please parse nested lists too.", subject="Nested lists")
    parser.read()
    parser.ask(
        "POST",
        f"/sessions/{parser.id}/inbox/ack",
        {"ids": [done.data["message"]["id"]], "action": "applied", "summary": "parses them; 14 tests"},
    )
    planner.post(parser, "And headings within them?", conversation="lists")
    planner.post(tests, "Run the suite on the parser's branch, please.")
    tests.post(planner, "It is red: two of the old tests expect flat lists. Keep or change them?")
    ground.person_posts(docs, "Mention nested lists in the tour.")
    rows = page.locator("#live tbody tr")
    expect(rows).to_have_count(4)
    page.set_viewport_size({"width": 1000, "height": 830})
    pictures = {"overview": "/", "mailbox": f"/mailbox?at=session:{parser.id}"}
    for name, path in pictures.items():
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.goto(ground.ui + path)
            expect(page.locator("#connection")).to_have_text("live")
            if name == "overview":
                expect(page.locator("svg.graph")).to_be_visible()
            page.screenshot(path=os.path.join(place, f"{name}-{scheme}.png"))
    kept = sorted(os.listdir(place))
    assert {f"{name}-{scheme}.png" for name in pictures for scheme in ("light", "dark")} <= set(kept)
