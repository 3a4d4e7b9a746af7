"""What a person does on the screen of a terminal, with the keyboard alone, with a server and without one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.autonomy.fixtures import HARMLESS
from tests.faces.http.api import running
from tests.inboxes import Inboxes
from textual.widgets import Input, TextArea

from restante.domain.message import Draft
from restante.domain.receipt import Action, Decision
from restante.wiring import open_office
from restante.wiring.sessions import open_roster

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.faces.tui.conftest import Eye, Place

    Looking = Callable[[Callable[[Eye], Awaitable[None]]], None]

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
ATTACKS = (
    "[red]x[/red]",
    "[bold",
    "[/]",
    "[/nope]",
    "[@click=app.quit]x[/]",
    "[link=https://example.org]x[/link]",
    r"\[bold]x",
    "$text-error {name} {0} %s",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;a title\x07",
    "\x1b]52;c;aGFjaw==\x1b\\",
    "\x1bP$qm\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9b31m\x9d0;t\x9c",
    "one\rtwo\x08\x08\x7f",
    "\u202etxt.exe \u2066a\u2069",
    "a\u2028b\u2029c\x85d\x0bd\x0ce",
    "\U000e0041\U000e0042",
)


def order_of(text: str, *names: str) -> list[str]:
    return sorted(names, key=text.index)


def test_the_one_that_idles_with_unseen_mail_stands_first_and_news_come_by_themselves(
    place: Place, looking: Looking
) -> None:
    place.session(1, "calm", turns=1)
    place.session(2, "waiting", turns=1)
    place.post("waiting", "look at this")

    async def story(eye: Eye) -> None:
        text = await eye.sees("waiting", "calm", "1/1")
        assert order_of(text, "waiting", "calm") == ["waiting", "calm"]
        # Whoever is told later, waits less.
        place.post("calm", "and at this")
        text = await eye.until(lambda text: text.count("1/1") == 2, "the news")
        assert order_of(text, "waiting", "calm") == ["waiting", "calm"]
        place.person.describe("calm", blocked="permission")
        text = await eye.sees("blocked", "a dialog waits")
        assert order_of(text, "waiting", "calm") == ["waiting", "calm"]

    looking(story)


def test_whoever_idles_with_unread_mail_of_a_role_is_told_too(place: Place, looking: Looking) -> None:
    place.session(1, "builder", turns=1)
    holder = place.session(2, "reviewer", turns=1)
    environment = place.environment | {"CODEX_THREAD_ID": holder.identity.session}
    roster = open_roster(environment, str(place.worktree))
    roster.join("parser/reviewer")
    roster.act_as("parser/reviewer")
    open_roster(place.environment, str(place.worktree)).post("parser/reviewer", Draft("look"))

    async def story(eye: Eye) -> None:
        text = await eye.sees("reviewer", "idle, and has not", "1/1")
        assert order_of(text, "builder ", "reviewer ") == ["reviewer ", "builder "]
        await eye.press("ctrl+home")
        await eye.sees("parser/reviewer 1/1")

    looking(story)


def test_a_filter_leaves_what_fits(place: Place, looking: Looking) -> None:
    place.session(1, "builder")
    place.session(2, "reviewer")

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "reviewer")
        await eye.press("slash")
        await eye.type("revi")
        await eye.until(lambda text: "builder" not in text and "reviewer" in text, "only one")
        await eye.press("escape")
        await eye.sees("builder", "reviewer")

    looking(story)


def test_a_mailbox_shows_what_became_of_each_message_and_looking_marks_nothing(place: Place, looking: Looking) -> None:
    agent = place.session(1, "builder", turns=1)
    first = place.post("builder", "Use the lexer.", conversation="lexer")
    agent.acknowledge([first], decision=Decision.ACCEPTED, action=Action.APPLIED, summary="it is in use now")
    place.post("builder", "And the parser.", conversation="lexer")

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "1/1")
        await eye.press("enter")
        await eye.sees("2 messages, 1 unseen", "And the parser.", "└ Use the lexer.", "applied")
        await eye.press("down")
        await eye.sees("decision accepted", "action applied", "it is in use now")
        await eye.press("f", "f")
        await eye.until(lambda text: "shown: unseen" in text and "└" not in text, "only the unseen one")
        await eye.press("y")
        await eye.sees("Why did nothing happen?", "status: unseen")
        await eye.press("escape")
        await eye.sees("Why look")

    looking(story)
    assert place.person.sessions()[0].counts.unseen == 1


def test_older_messages_are_a_key_away(place: Place, looking: Looking) -> None:
    place.session(1, "builder")
    for number in range(60):
        place.post("builder", f"number {number:02}")

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "60/60")
        await eye.press("enter")
        await eye.sees("number 59", "there are older ones")
        await eye.press("o")
        await eye.sees("number 09", "newer messages are not shown")
        await eye.press("n")
        await eye.sees("number 59")

    looking(story)


def test_writing_with_the_keyboard_alone_and_a_second_step_for_what_was_found(place: Place, looking: Looking) -> None:
    place.session(1, "builder")
    place.session(2, "reviewer")

    def letters() -> int:
        return sum(row.counts.total for row in place.person.sessions())

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "reviewer")
        await eye.press("w")
        await eye.sees("Leave it")
        to, text = eye.pilot.app.screen.query_one("#to", Input), eye.pilot.app.screen.query_one("#text", TextArea)
        to.focus()
        to.value = ""
        await eye.type("revi")
        await eye.sees("reviewer  session:")
        await eye.press("enter")
        await eye.until(lambda _: to.value.startswith("session:01990002"), "the completed address")
        await eye.press("tab")
        assert text.has_focus
        await eye.type("a token: ")
        await eye.paste(SECRET)
        await eye.sees("Look again before it leaves")
        assert "Leave it anyway" not in eye.text
        await eye.press("ctrl+s")
        await eye.sees("Leave it anyway")
        # Neither the same key again, nor the button after the text was changed, lets it leave.
        await eye.press("ctrl+s")
        await eye.press("x")
        await eye.until(lambda text: "Leave it anyway" not in text, "the question taken back")
        assert letters() == 0
        await eye.press("ctrl+s")
        await eye.sees("Leave it anyway")
        while getattr(eye.pilot.app.focused, "id", "") != "anyway":
            await eye.press("tab")
        await eye.press("enter")
        await eye.sees("Left for reviewer")
        assert text.text == ""

    looking(story)
    assert letters() == 1


def test_a_text_that_was_begun_is_dropped_only_when_asked_twice(place: Place, looking: Looking) -> None:
    place.session(1, "builder")

    async def story(eye: Eye) -> None:
        await eye.sees("builder")
        await eye.press("w")
        await eye.sees("Leave it")
        await eye.type("hello")
        await eye.press("escape")
        await eye.sees("Press Esc again")
        await eye.type("!")
        await eye.press("escape")
        await eye.sees("hello!", "Press Esc again")
        await eye.press("escape")
        await eye.sees("Why look")

    looking(story)


def test_roles_and_worktrees_are_listed_written_to_and_shown(place: Place, looking: Looking) -> None:
    place.session(1, "builder")
    open_roster(place.environment, str(place.worktree)).join("parser/reviewer")

    async def story(eye: Eye) -> None:
        await eye.sees("parser/reviewer", "nobody", "worktree")
        for steps, words in ((1, "for the role"), (2, "for the tree")):
            await eye.press("ctrl+home", *["down"] * steps)
            await eye.press("w")
            await eye.sees("Leave it")
            await eye.type(words)
            await eye.press("ctrl+s")
            await eye.sees("Left for")
            await eye.press("escape")
            await eye.sees("Why look")
            await eye.press("enter")
            await eye.sees(words, "1 message, 1 unseen")
            await eye.press("escape")
            await eye.sees("Why look")

    looking(story)
    office = open_office(str(place.worktree), environment=place.environment)
    assert [entry.message.body for entry in office.inbox()] == ["for the tree"]


def test_what_cannot_be_left_keeps_the_text_and_says_why(place: Place, looking: Looking) -> None:
    place.session(1, "builder")

    async def story(eye: Eye) -> None:
        await eye.sees("builder")
        await eye.press("w")
        await eye.sees("Leave it")
        await eye.type("hello")
        eye.pilot.app.screen.query_one("#to", Input).value = "nobody at all"
        await eye.press("ctrl+s")
        await eye.sees("is not a mailbox address", "hello")

    looking(story)


@pytest.mark.parametrize("place", ["local"], indirect=True)
@pytest.mark.parametrize(
    ("key", "word", "note"),
    [
        pytest.param("a", "approved", "", marks=pytest.mark.slow),
        ("m", "modified", "only one"),
        pytest.param("d", "declined", "no", marks=pytest.mark.slow),
    ],
)
def test_a_decision_stands_in_the_audit_record(
    place: Place,
    looking: Looking,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    word: str,
    note: str,
) -> None:
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    inboxes = Inboxes(place.worktree.parent / "oacp", capsys, monkeypatch)
    inboxes.policy()
    inboxes.task("Drop it.", {**HARMLESS, "estimated_minutes": 90}, subject="[red]Rename it[/red]")
    inboxes.drain()

    async def story(eye: Eye) -> None:
        await eye.sees("1 waits for your approval")
        await eye.press("a")
        await eye.sees("[red]Rename it[/red]", "longer than your policy allows")
        await eye.press("enter")
        while "90 / 45" not in eye.text:
            await eye.press("down")
        await eye.press(key)
        await eye.sees("Enter writes it down")
        await eye.press("escape")
        await eye.until(lambda text: "Enter writes it down" not in text, "the list")
        await eye.press(key)
        await eye.sees("Enter writes it down")
        if key == "m":
            await eye.press("enter")
            await eye.sees("What is changed?")
        await eye.type(note)
        await eye.press("enter")
        await eye.sees("Nothing waits for you.")

    looking(story)
    (path,) = [one for one in inboxes.agents.rglob("*.y*ml") if "human_outcome" in one.read_text()]
    outcome = yaml.safe_load(path.read_text())["result"]["human_outcome"]
    assert outcome["decision"] == word


@pytest.mark.parametrize("place", ["local"], indirect=True)
def test_text_of_others_is_data(place: Place, looking: Looking) -> None:
    agent = place.session(1, "builder", turns=1)
    for number, attack in enumerate(ATTACKS):
        # Names and subjects with what is not to be seen are refused when they are given.
        tame = "".join(letter for letter in attack if letter.isprintable())[:30]
        place.session(2 + number, f"{number} {tame}".strip(), turns=1)
        place.post("builder", f"<{number}> {attack}", subject=f"{number}: {tame}", conversation=tame[:20])
    answered = place.post("builder", "last")
    agent.acknowledge([answered], decision=Decision.ACCEPTED, summary=" ".join(ATTACKS))

    async def story(eye: Eye) -> None:
        # How many rows there is room for depends on what is said above and below them.
        text = await eye.sees("19 sessions", "builder")
        for _ in range(len(ATTACKS) + 1):
            await eye.press("down")
            _check_tame(eye)
            text += eye.text
        for number, attack in enumerate(ATTACKS):
            tame = "".join(letter for letter in attack if letter.isprintable())[:30]
            assert " ".join(f"{number} {tame}".split())[:19] in text
        await eye.press("ctrl+home", "enter")
        await eye.sees("What")
        for _ in range(len(ATTACKS) + 1):
            await eye.press("down")
            await eye.pilot.pause()
            _check_tame(eye)
        await eye.until(lambda text: "<0> [red]x[/red]" in text, "the oldest message as it was written")
        await eye.press("w")
        await eye.sees("Leave it")
        eye.pilot.app.screen.query_one("#to", Input).focus()
        for attack in ("[red]", "[/nope]", "[@click"):
            eye.pilot.app.screen.query_one("#to", Input).value = attack
            await eye.sees(attack, "session:0199")
            _check_tame(eye)

    looking(story)


def _check_tame(eye: Eye) -> None:
    for line in eye.lines:
        assert all(letter.isprintable() for letter in line), ascii(line)


@pytest.mark.parametrize("place", ["local"], indirect=True)
def test_findings_are_shown_as_data(place: Place, looking: Looking) -> None:
    place.session(1, "builder")

    async def story(eye: Eye) -> None:
        await eye.sees("builder")
        await eye.press("w")
        await eye.sees("Leave it")
        written = f"[/nope] \x1b[31m [red] \u202e {SECRET}"
        eye.pilot.app.screen.query_one("#text", TextArea).text = written
        await eye.paste("\x1b]0;x\x07\u202e")
        await eye.sees("Look again before it leaves", "[/nope]")
        assert SECRET not in eye.text.split("Look again")[1]
        _check_tame(eye)
        eye.pilot.app.screen.query_one("#subject", Input).focus()
        await eye.paste("tame \x1b]0;x\x07")
        await eye.press("!")
        await eye.sees("Subject      !")
        _check_tame(eye)

    looking(story)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["local"], indirect=True)
def test_a_server_that_starts_and_ends_is_noticed(place: Place, looking: Looking) -> None:
    place.session(1, "builder", turns=1)

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "0/0")
        data = Path(place.environment["RESTANTE_DATA"])
        with running(data, HOME=place.environment["HOME"]) as server:
            server.api()
            place.post("builder", "through the server")
            await eye.sees("1/1")
            server.stop()
        place.post("builder", "without it")
        await eye.sees("2/2")
        await eye.press("enter")
        await eye.sees("through the server", "without it")

    looking(story)


def test_what_went_wrong_is_said_and_the_screen_goes_on(place: Place, looking: Looking) -> None:
    place.session(1, "builder")

    async def story(eye: Eye) -> None:
        await eye.sees("builder")
        await eye.press("enter")
        await eye.sees("0 messages")
        place.person.delete("builder")
        await eye.until(lambda text: "no session" in text or "no live session" in text, "what went wrong")
        await eye.press("escape")
        await eye.until(lambda text: "0 sessions" in text, "the overview without it")

    looking(story)
