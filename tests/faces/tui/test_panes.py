"""What a person finds beside the mail: who waits for whom, repeats, monitors, settings, bytes, keys; small windows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from restante.domain.message import Draft
from restante.domain.overview import Row
from restante.domain.registry import Presence, Session
from restante.faces.tui.app import PeopleApp
from restante.faces.tui.picture import picture_of
from restante.faces.tui.plain import dump, fitted
from restante.wiring import open_office
from restante.wiring.monitors import open_vigil

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faces.tui.conftest import Eye, Place

    Looking = Callable[..., None]

pytestmark = pytest.mark.parametrize("place", ["local"], indirect=True)
SMALL = (60, 20)
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def test_bytes_of_a_message_are_a_key_away_and_act_on_nothing(place: Place, looking: Looking) -> None:
    place.session(1, "builder")
    place.post("builder", "a\x1b[31m\u202eé")

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "1/1")
        await eye.press("enter")
        await eye.sees(r"a\x1b[31m\u202eé")
        await eye.press("b")
        await eye.sees("11 bytes:", "000000  61 1b 5b 33 31 6d e2 80 ae c3 a9", "|a.[31m.....|")
        assert all(letter.isprintable() for line in eye.lines for letter in line)
        await eye.press("b")
        await eye.sees(r"a\x1b[31m\u202eé")

    looking(story)


def test_who_waits_for_whom_is_drawn(place: Place, looking: Looking) -> None:
    one, other = place.session(1, "builder", turns=1), place.session(2, "reviewer", turns=1)
    place.session(3, "tester", turns=1)

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "reviewer")
        await eye.press("p")
        await eye.sees("Nobody waits for anybody.")
        one.post("reviewer", Draft("look"))
        one.post("tester", Draft("test"))
        await eye.sees("builder ─┬──▶ reviewer", "         └──▶ tester")
        other.post("builder", Draft("no, you"))
        await eye.sees("◀─▶", "wait for each other")
        await eye.press("escape")
        await eye.sees("Why look")

    looking(story)


def test_repeats_are_paused_resumed_and_removed_when_asked_again(place: Place, looking: Looking) -> None:
    place.session(1, "builder")
    office = open_office(str(place.worktree), environment=place.environment)
    office.send(Draft("remember the [red]tests[/red]"), repeat_ms=90_000)

    async def story(eye: Eye) -> None:
        await eye.sees("builder")
        await eye.press("e")
        await eye.sees("every 90s", "active", "remember the [red]tests[/red]", "posted 0 times", "next at")
        await eye.press("p")
        await eye.sees("paused", "it rests until you resume it")
        assert not office.repeats()[0].active
        await eye.press("p")
        await eye.sees("next at")
        assert office.repeats()[0].active
        await eye.press("x")
        await eye.sees("Remove this repeat?")
        await eye.press("escape")
        await eye.until(lambda text: "Remove this repeat?" not in text, "the list")
        assert office.repeats()
        await eye.press("x")
        await eye.sees("Remove this repeat?")
        await eye.press("enter")
        await eye.sees("Nothing is repeated.")

    looking(story)
    assert not office.repeats()


def test_a_monitor_says_what_happens_when_mail_comes_and_is_stopped_when_asked_again(
    place: Place, looking: Looking
) -> None:
    session = place.session(1, "builder", turns=1).identity.session
    vigil = open_vigil(place.environment, str(place.worktree))
    vigil.arm(f"session:{session}", session=session)

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "1 monitor wakes nobody")
        await eye.press("m")
        await eye.sees("builder", "active", "When mail comes: ", "Listener: none", "0 unseen, 0 noticed, mark 0")
        await eye.press("x")
        await eye.sees("Stop watching this mailbox?")
        await eye.press("enter")
        await eye.sees("No mailbox is watched.")
        await eye.press("escape")
        await eye.until(lambda text: "Why look" in text and "wakes nobody" not in text, "the overview without it")

    looking(story)
    assert not vigil.outlooks()


def test_a_switch_says_what_follows_before_it_is_made(place: Place, looking: Looking) -> None:
    place.session(1, "builder")
    place.post("builder", "keep me")

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "1/1")
        await eye.press("s")
        await eye.sees("It is kept on disk.", "sessions.messages", "RESTANTE_CHECKPOINT_SHOW_AGAIN")
        await eye.press("k")
        await eye.sees("delete it from disk?", "would be deleted: 1")
        await eye.press("escape")
        await eye.until(lambda text: "delete it from disk?" not in text, "the list")
        assert place.person.persistence().is_on
        await eye.press("k")
        await eye.sees("would be deleted: 1")
        await eye.press("enter")
        await eye.sees("It has no place to wait")
        await eye.press("k")
        await eye.sees("Keep it on disk?", "outlive every program")
        await eye.press("enter")
        await eye.sees("It is kept on disk.")

    looking(story)
    assert place.person.persistence().is_on
    assert place.person.sessions()[0].counts.pending == 0


def test_settings_show_nothing_that_lets_anybody_in(place: Place, looking: Looking) -> None:
    place.environment["RESTANTE_SERVER_HOSTS"] = "mail.example"
    place.environment["RESTANTE_WAKE_OPENCODE"] = "http://127.0.0.1:9"

    async def story(eye: Eye) -> None:
        await eye.press("s")
        await eye.sees("Settings", "database.url")
        seen = ""
        for _ in range(30):
            await eye.press("down")
            seen += eye.text
        assert "mail.example" in seen

    looking(story)
    from restante.config import OPTIONS, load_settings, shown_value

    settings = load_settings({"RESTANTE_DATABASE_URL": "postgresql://me:secret@host/db"})
    shown = {one.name: shown_value(settings, one) for one in OPTIONS}
    assert shown["database.url"] == "set"
    assert shown["server.url"] == ""


@pytest.mark.slow
def test_every_screen_tells_its_keys(place: Place, looking: Looking) -> None:
    place.session(1, "builder")

    async def story(eye: Eye) -> None:
        await eye.sees("builder")
        for key, words in (
            ("", ("Open", "Write", "Who waits for whom", "Repeats", "Monitors", "Settings", "Look again", "Quit")),
            ("enter", ("Bytes", "Why?", "Older", "Newest", "Back")),
            ("e", ("Pause, resume", "Remove")),
            ("m", ("Stop",)),
            ("s", ("Keep mail on disk, or not",)),
            ("p", ("Back",)),
            ("a", ("Approve", "With a note", "Decline")),
        ):
            await eye.press(*([key] if key else []))
            if key:
                await eye.until(lambda text: "Why look" not in text, "the other screen")
            await eye.press("question_mark")
            await eye.sees("Keys", "Esc goes back.", *words)
            await eye.press("escape")
            await eye.until(lambda text: "Esc goes back." not in text, "the screen below")
            if key:
                await eye.press("escape")
                await eye.sees("Why look")
        await eye.press("w")
        await eye.sees("Leave it")
        await eye.type("?")
        await eye.press("f1")
        await eye.sees("Keys", "Leave it", "Back")

    looking(story)


@pytest.mark.slow
def test_a_small_window_holds_every_screen_and_a_larger_one_is_filled(place: Place, looking: Looking) -> None:
    place.session(1, "builder", turns=1)
    place.post("builder", "Use the lexer, and not the parser, as long as it isnished: see the notes")

    async def story(eye: Eye) -> None:
        await eye.sees("builder", "1/1", "q Quit", "? Help", "idle, and has")
        assert max(len(line.rstrip()) for line in eye.lines) <= 60
        assert len(eye.lines) == 20
        await eye.press("enter")
        await eye.sees("unseen", "Use the lexer, and not the parser", "What became of it", "esc Back")
        await eye.press("w")
        await eye.sees("To ", "Priority", "current_task", "Repeat every", "Leave it")
        await eye.press("escape")
        await eye.resize(110, 30)
        await eye.until(lambda text: "as long as it is" in text.partition("──")[0], "the wide list")
        await eye.resize(*SMALL)
        await eye.until(lambda text: "as long as it is" not in text.partition("──")[0], "the narrow list")
        await eye.press("escape")
        for key, words in (("e", "Nothing is"), ("m", "No mailbox"), ("s", "limits.message_bytes"), ("p", "Nobody")):
            await eye.sees("Why look")
            await eye.press(key)
            await eye.sees(words)
            await eye.press("escape")

    looking(story, SMALL)


def test_colours_are_those_of_the_terminal(place: Place, looking: Looking) -> None:
    place.session(1, "builder")

    async def story(eye: Eye) -> None:
        await eye.sees("builder")
        assert isinstance(eye.pilot.app, PeopleApp)
        colours = {
            colour
            for strip in eye.pilot.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style
            for colour in (segment.style.color, segment.style.bgcolor)
            if colour is not None
        }
        assert all(colour.triplet is None for colour in colours), colours

    looking(story)


# -- without a screen --------------------------------------------------------------------------------------


def test_a_picture_draws_a_pair_once_and_cuts_names(place: Place) -> None:
    def row(name: str, *waits_for: str) -> Row:
        session = Session(name[:1], "", "codex", name, "/tree", "", None, NOW, NOW)
        return Row(session, Presence.UNKNOWN, waits_for=waits_for)

    rows = [row("a", "b", "c"), row("b", "a"), row("c" * 99, "a", "gone")]
    assert picture_of(rows, 40) == ["a ─┬◀─▶ b", f"   └◀─▶ {'c' * 15}…"]
    assert picture_of(rows[:1], 40) == []


@pytest.mark.parametrize("total", range(30, 121, 7))
def test_columns_fill_the_line_as_long_as_it_holds_their_least(place: Place, total: int) -> None:
    widths = fitted(total, (20, 14), (14, 9), (6, 5), (10, 0), rest=16)
    used = sum(one + 2 for one in widths if one)
    assert used == max(total, 14 + 9 + 5 + 16 + 4 * 2)


def test_a_dump_tells_every_byte_within_the_line(place: Place) -> None:
    data = bytes(range(256))
    for width in (50, 80):
        lines = dump(data, width).splitlines()
        assert max(map(len, lines)) <= width
        assert bytes.fromhex("".join(line[8:].split("|")[0] for line in lines)) == data
        assert all(line.isprintable() for line in lines)
