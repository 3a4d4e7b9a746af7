"""What a person sees and decides of the other homes: approvals of an OACP tree, roles of teams, monitors."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml
from playwright.sync_api import expect
from tests.autonomy.fixtures import HARMLESS
from tests.inboxes import Inboxes

from restante.domain.message import Draft
from restante.wiring import open_office
from restante.wiring.pages import file_boxes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page
    from tests.faces.web.conftest import Ground

pytestmark = pytest.mark.slow


@pytest.fixture
def paused(ground: Ground, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inboxes:
    """An agent's inbox with one task that waits for a person."""
    monkeypatch.setenv("OACP_HOME", str(ground.home / "oacp"))
    inboxes = Inboxes(ground.home / "oacp", capsys, monkeypatch)
    inboxes.policy()
    inboxes.task("Drop it.", {**HARMLESS, "estimated_minutes": 90}, subject="<b>Rename the page</b>")
    inboxes.drain()
    return inboxes


def record_of(inboxes: Inboxes, name: str) -> dict[str, object]:
    (path,) = inboxes.agents.rglob(name.rpartition("/")[2])
    found = yaml.safe_load(path.read_text())
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("button", "word", "note"),
    [("Approve", "approved", ""), ("Approve as the note says", "modified", "only one"), ("Decline", "declined", "no")],
)
def test_a_decision_stands_in_the_audit_record(
    page: Page,
    ground: Ground,
    paused: Inboxes,
    picture: Callable[[Page, str], None],
    button: str,
    word: str,
    note: str,
) -> None:
    name = paused.run("approvals", "--project", "demo", "--json").json["approvals"][0]["audit"]
    page.goto(f"{ground.ui}/")
    expect(page.locator("main")).to_contain_text("1 waits for your approval")
    page.goto(f"{ground.ui}/approvals")
    article = page.locator("main article")
    expect(article).to_contain_text("<b>Rename the page</b>")
    expect(article).to_contain_text("longer than your policy allows")
    expect(article.locator("table")).to_contain_text("90")
    picture(page, "approvals")
    if note:
        page.get_by_label("Note").fill(note)
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator(".notice")).to_be_visible()
    expect(page.locator("main article")).to_have_count(0)
    result = record_of(paused, name)["result"]
    assert isinstance(result, dict)
    outcome = result["human_outcome"]
    assert outcome["decision"] == word
    assert outcome["decision_latency_seconds"] >= 0


def test_a_changed_approval_needs_a_note(page: Page, ground: Ground, paused: Inboxes, faults: list[str]) -> None:
    page.goto(f"{ground.ui}/approvals")
    page.get_by_role("button", name="Approve as the note says").click()
    expect(page.locator(".error")).to_contain_text("what is changed?")
    assert paused.run("approvals", "--project", "demo", "--json").json["approvals"]
    faults.clear()


def test_roles_are_listed_with_who_holds_them_and_their_mail_is_shown(page: Page, ground: Ground) -> None:
    ground.api.actor("worker", workingDir=str(ground.worktree))
    assert ground.restante("join", "team/reviewer").returncode == 0
    assert ground.restante("post", "team/reviewer", "please review").returncode == 0
    page.goto(f"{ground.ui}/")
    row = page.locator("tr", has_text="team/reviewer")
    expect(row).to_contain_text("nobody")
    expect(row).to_contain_text("1")
    row.get_by_role("link").click()
    expect(page.locator(".body")).to_have_text("please review")


def test_a_session_shows_the_mail_of_the_role_that_it_holds_in_its_row(page: Page, ground: Ground) -> None:
    worker = ground.api.actor("worker", workingDir=str(ground.worktree))
    assert worker.ask("POST", "/teams/team/reviewer/join", {"workingDir": str(ground.worktree)}).status == 200
    assert ground.restante("post", "team/reviewer", "please review").returncode == 0
    page.goto(f"{ground.ui}/")
    row = page.locator("tr.unseen", has=page.locator("th a", has_text="worker"))
    expect(row.locator("td.number")).to_contain_text("0 / 0team/reviewer 1 / 1")
    row.get_by_role("link", name="team/reviewer").click()
    expect(page.locator(".body")).to_have_text("please review")


def test_a_role_is_written_to(page: Page, ground: Ground) -> None:
    assert ground.restante("join", "team/reviewer").returncode == 0
    page.goto(f"{ground.ui}/compose")
    expect(page.locator("#recipients option[value='team/reviewer']")).to_have_count(1)
    page.get_by_label("To", exact=True).fill("team/reviewer")
    page.get_by_label("Text", exact=True).fill("please review")
    page.get_by_role("button", name="Leave it", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("Left for team/reviewer")
    assert "please review" in ground.restante("history", "team/reviewer").stdout


def test_a_monitor_is_shown_as_it_stands_and_stopped(page: Page, ground: Ground) -> None:
    session = ground.api.actor("worker", workingDir=str(ground.worktree))
    address = f"session:{session.id}"
    armed = ground.restante("monitor", "arm", address, "--session", session.id)
    assert armed.returncode == 0, armed.stderr
    page.goto(f"{ground.ui}/monitors")
    row = page.locator("tbody tr")
    expect(row).to_contain_text(address)
    expect(row).to_contain_text("active")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("main")).to_contain_text("No mailbox is watched")
    assert "inactive" in ground.restante("monitor", "status", address).stdout


def test_what_the_work_declares_to_do_is_said_and_what_was_asked_is_a_click_away(
    page: Page, ground: Ground, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OACP_HOME", str(ground.home / "oacp"))
    inboxes = Inboxes(ground.home / "oacp", capsys, monkeypatch)
    inboxes.policy()
    inboxes.task("Tidy <b>up</b>.", {**HARMLESS, "external_side_effects": True}, subject="Tidy")
    inboxes.drain()
    page.goto(f"{ground.ui}/approvals")
    article = page.locator("main article")
    expect(article.locator(".effects li")).to_have_text(["external side effects"])
    expect(article).to_contain_text("Declared as not happening: destructive ops")
    expect(article).to_contain_text(".yaml")
    page.get_by_role("link", name="what was asked").click()
    expect(page.locator("h1")).to_have_text("Mailbox of demo/codex")
    expect(page.locator(".body")).to_contain_text("Tidy <b>up</b>.")
    expect(page.get_by_role("link", name="Write to it")).to_have_count(0)


def test_the_overview_has_the_mailboxes_that_are_files_and_what_waits_for_the_person_above_all(
    page: Page, ground: Ground, paused: Inboxes
) -> None:
    session = ground.api.actor("worker", workingDir=str(ground.worktree))
    assert ground.restante("monitor", "arm", f"session:{session.id}", "--session", session.id).returncode == 0
    assert ground.restante("send", "mind the tests").returncode == 0
    page.goto(f"{ground.ui}/")
    files = page.get_by_role("region", name="Mailboxes in files")
    expect(files.locator("tbody tr")).to_have_count(2)
    expect(files.locator("tr", has_text=str(ground.worktree))).to_contain_text("1 / 1")
    expect(files).to_contain_text("demo/codex")
    notices = page.locator("main > :is(h1, div, form)").nth(1)
    expect(notices).to_contain_text("1 waits for your approval")
    expect(notices).to_contain_text("worker: mail is only looked for in the next turn")
    files.get_by_role("link", name=str(ground.worktree)).click()
    expect(page.locator(".body")).to_have_text("mind the tests")
    assert paused.run("approvals", "--project", "demo", "--json").json["approvals"]


def test_no_inbox_of_files_is_shown_that_is_not_known(page: Page, ground: Ground, faults: list[str]) -> None:
    page.goto(f"{ground.ui}/mailbox?at=oacp:demo/nobody")
    expect(page.locator(".error")).to_contain_text("no inbox of 'demo/nobody'")
    faults.clear()


def test_files_that_nobody_changed_are_not_read_again_and_changed_ones_are(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    environment = {"HOME": str(tmp_path), "RESTANTE_DATA": str(tmp_path / "data"), "OACP_HOME": str(tmp_path / "none")}
    office = open_office(str(tree), environment=environment)
    office.send(Draft("one"))
    assert [box.counts.unseen for box in file_boxes(environment, [str(tree)])] == [1]
    inbox = tree / ".codex-mailbox" / "INBOX.md"
    was, text = inbox.stat(), inbox.read_bytes()
    # Other bytes in a file that looks the same to who only asks for its size and time.
    inbox.write_bytes(b"x" * len(text))
    os.utime(inbox, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert [box.counts.unseen for box in file_boxes(environment, [str(tree)])] == [1]
    inbox.write_bytes(text)
    office.send(Draft("two"))
    assert [box.counts.unseen for box in file_boxes(environment, [str(tree)])] == [2]
