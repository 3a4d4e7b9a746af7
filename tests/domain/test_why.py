"""The table of causes: whatever facts can come together, one cause is the answer, and each cause is somebody's."""

from __future__ import annotations

import re
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from restante.domain.address import Home
from restante.domain.evidence import quoted
from restante.domain.facts import Facts, Held, Hooks, HookState, Intake, Lookup, Reader, Tenure, Watch
from restante.domain.lifecycle import Standing as Course
from restante.domain.lifecycle import Status
from restante.domain.monitor import Monitor, MonitorState, Plan
from restante.domain.registry import Latch, Presence, Process, Session, TurnSource
from restante.domain.team import Lease, Member
from restante.domain.team import Standing as Hold
from restante.domain.why import RULES, explain

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
CAUSES = [rule.cause for rule in RULES]
HOW_TO = Path(__file__).parents[2] / "docs" / "howto" / "why.md"

times = st.integers(0, 90_000).map(lambda seconds: NOW - timedelta(seconds=seconds))
maybe = st.one_of(st.none(), times)
# What others wrote: it must do nothing to a sentence, a command line or a terminal.
words = st.text(alphabet=string.ascii_letters + " {}'\"\n\x1b\u202e;$", max_size=20)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    ended = draw(maybe)
    return Session(
        id="0199aaaa-0000-7000-8000-00000000000a",
        owner="",
        vendor=draw(st.sampled_from(["codex", "claude", "", "other"])),
        name=draw(words),
        worktree="/somewhere",
        parent="",
        process=draw(st.sampled_from([None, Process("here", 7, "1")])),
        created=draw(times),
        heartbeat=draw(times),
        detached=draw(maybe),
        latch=Latch(draw(st.integers(0, 3)), ended, TurnSource.HOOK if ended else None),
        blocked=draw(st.sampled_from(["", "permission", "{question}"])),
        parked_since=draw(maybe),
        parked_until=draw(st.one_of(maybe, st.just(NOW + timedelta(seconds=9)))),
    )


@st.composite
def monitors(draw: st.DrawFn) -> Monitor:
    return Monitor(
        mailbox="team/role",
        owner="",
        session="0199aaaa-0000-7000-8000-00000000000a",
        vendor="codex",
        generation=1,
        token="t",
        plan=draw(st.sampled_from(Plan)),
        adapter=draw(st.sampled_from(["codex-queue", "claude-rewake", "none"])),
        state=draw(st.sampled_from(MonitorState)),
        armed=draw(times),
        cycle_started=draw(times),
        time_to_live=timedelta(hours=12),
        expires=NOW + timedelta(seconds=draw(st.integers(-60, 60))),
        heartbeat=draw(maybe),
        last_delivered=draw(st.integers(0, 9)),
        last_woken=draw(st.integers(0, 9)),
        pending=draw(st.integers(0, 9)),
        tries=draw(st.integers(0, 3)),
        last_error=draw(words),
        hindrance=draw(st.one_of(st.just(""), words)),
    )


def readers() -> st.SearchStrategy[Reader]:
    return st.builds(Reader, sessions(), st.sampled_from(Presence), st.booleans(), maybe)


@st.composite
def tenures(draw: st.DrawFn) -> Tenure:
    if draw(st.booleans()):
        return Tenure(None)
    lease = Lease(2, "0199aaaa-0000-7000-8000-00000000000a", None, draw(times), draw(times), timedelta(hours=12))
    held = draw(st.booleans())
    member = Member("team/role", NOW, "/somewhere", "codex", 2, lease if held else None)
    return Tenure(member, draw(st.sampled_from(Hold)) if held else None)


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    home = draw(st.sampled_from(Home))
    reader = draw(st.one_of(st.none(), readers()))
    course = Course(
        draw(st.sampled_from(Status)),
        draw(maybe),
        draw(maybe),
        draw(maybe),
        draw(maybe),
        draw(maybe),
        summary=draw(words),
    )
    return Facts(
        "msg_20260520T120000_01hzy2v4qd8m8fjq5c9x6k7w1a",
        NOW,
        lookup=draw(st.sampled_from([Lookup.FOUND] * 6 + list(Lookup))),
        trouble=draw(words),
        home=home,
        address=f"{home}:{draw(words)}",
        number=draw(st.integers(0, 9)),
        posted=draw(maybe),
        course=course,
        by=draw(st.one_of(st.just(""), words, st.just("codex:0199aaaa-0000-7000-8000-00000000000a"))),
        has_register=draw(st.booleans()),
        ended=draw(st.integers(0, 2)),
        reader=reader,
        hooks=draw(st.one_of(st.none(), st.builds(Hooks, st.just("codex"), st.sampled_from(HookState), words, words))),
        tenure=draw(tenures()) if home is Home.ROLE else None,
        watch=draw(st.one_of(st.none(), st.builds(Watch, monitors(), st.sampled_from(Presence)))),
        intake=draw(st.builds(Intake, words, words, st.sampled_from(Held), st.tuples(words), maybe))
        if home is Home.OACP
        else None,
        is_silent=draw(st.sampled_from([False, False, True])),
    )


@given(facts())
def test_whatever_comes_together_one_cause_of_the_table_is_the_answer(known: Facts) -> None:
    found = explain(known)
    assert found.cause in CAUSES
    assert found.cause != "unknown"
    assert found.message_id == known.message
    # One sentence, printable, with nothing left to fill in that the table wrote.
    assert found.sentence
    assert found.sentence.isprintable()
    assert all(line.isprintable() for line in found.evidence)
    assert found.command.isprintable()
    assert not found.command or found.command.startswith("restante ")


@given(facts())
def test_the_first_rule_that_holds_is_the_answer_and_the_last_one_always_holds(known: Facts) -> None:
    holding = [rule.cause for rule in RULES if rule.holds(known)]
    assert explain(known).cause == holding[0]
    assert holding[-1] == CAUSES[-1]


@given(facts())
def test_a_message_that_needs_no_answer_any_more_is_never_blamed_on_anybody(known: Facts) -> None:
    found = explain(known._replace(lookup=Lookup.FOUND))
    settled = {
        Status.WITHDRAWN: "withdrawn",
        Status.EXPIRED: "expired",
        Status.REJECTED: "refused",
        Status.DEFERRED: "deferred",
        Status.NEEDS_CONFIRMATION: "needs-confirmation",
        Status.PENDING: "work-pending",
        Status.BLOCKED: "work-blocked",
        Status.SEEN: "seen",
        **dict.fromkeys((Status.ACCEPTED, Status.APPLIED, Status.NOT_APPLICABLE), "answered"),
    }
    assert settled.get(known.course.status, found.cause) == found.cause


def test_each_cause_has_a_word_of_its_own_and_says_what_it_means() -> None:
    assert len(set(CAUSES)) == len(CAUSES)
    for rule in RULES:
        assert re.fullmatch("[a-z]+(-[a-z]+)*", rule.cause)
        assert rule.means.endswith(".")


def test_each_cause_is_produced_for_real_by_a_test_that_names_it() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in (Path(__file__).parents[1] / "why").glob("test_*.py"))
    named = set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', tests))
    assert [cause for cause in CAUSES if cause not in named] == []


def test_the_document_lists_each_cause() -> None:
    page = HOW_TO.read_text(encoding="utf-8")
    assert [rule.cause for rule in RULES if f"| `{rule.cause}` | {rule.means} |" not in page] == []


def test_a_word_of_somebody_else_stays_one_word_of_a_command_line() -> None:
    for word in ("it's; rm -rf ~", "$(x)", "a b", "", "\x1b[31m"):
        assert quoted(word)[0] == quoted(word)[-1] == "'"
    assert quoted("team/role") == "team/role"
    assert quoted("a\nb") == r"'a\nb'"
