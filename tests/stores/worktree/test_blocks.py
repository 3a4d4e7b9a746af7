from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.stores.worktree import original_markdown as original

from restante.domain.ids import compose
from restante.domain.receipt import Action, Decision, Receipt
from restante.stores.worktree.blocks import message_of, receipt_of, reply_of
from restante.stores.worktree.grammar import Kind, scan
from restante.stores.worktree.render import HEADERS, render_receipt, render_reply

START = datetime(2026, 5, 20, 12, 34, 56, tzinfo=UTC)
SEEN = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
MSG = compose("msg", START, 1)
ONE, TWO = (compose("receipt", START, n) for n in (1, 2))
REPLY = compose("reply", START, 1)
APPLIED = Receipt(ONE, MSG, SEEN, Decision.ACCEPTED, Action.APPLIED, "Did it.")


def receipts(text: str) -> list[Receipt]:
    found = scan(HEADERS["RECEIPTS.md"] + text.encode(), source="RECEIPTS.md", kind=Kind.RECEIPT)
    assert found.faults == []
    return [receipt_of(block) for block in found.blocks]


def faults(text: str, kind: Kind = Kind.RECEIPT) -> list[tuple[int, str]]:
    found = scan(text.encode(), source="F.md", kind=kind)
    assert {fault.source for fault in found.faults} <= {"F.md"}
    return [(fault.line, fault.reason) for fault in found.faults]


FIELDS = f"""message_id: {MSG}
seen_at: 2026-05-20T15:30:00.000Z
decision: accepted
action_status: applied
summary: Did it."""


@pytest.mark.parametrize(
    "text",
    [
        FIELDS,
        "\n".join(reversed(FIELDS.split("\n"))),
        "\n".join(f"- {line}" for line in FIELDS.split("\n")),
        "\n".join(f"* {line}" for line in FIELDS.split("\n")),
        "\n".join(f"1. {line}" for line in FIELDS.split("\n")),
        "\n\n".join(FIELDS.split("\n")),
        "\n".join("- **{}:** {}".format(*line.split(": ", 1)) for line in FIELDS.split("\n")),
        "\n".join("**{}**: {}".format(*line.split(": ", 1)) for line in FIELDS.split("\n")),
        "\n".join("- `{}`: {}".format(*line.split(": ", 1)) for line in FIELDS.split("\n")),
        "\n".join("`{}`: {}".format(*line.split(": ", 1)) for line in FIELDS.split("\n")),
        "\n".join(f"`{line}`" for line in FIELDS.split("\n")),
        "\n".join(f"> {line}" for line in FIELDS.split("\n")),
        f"```yaml\n{FIELDS}\n```",
        FIELDS.replace(MSG, f"`{MSG}`").replace("accepted", "`accepted`").replace("applied", "**applied**"),
        FIELDS.replace(MSG, f"[{MSG}](INBOX.md)").replace("accepted", "Accepted.").replace("applied", "Applied"),
        FIELDS.replace("accepted", "ACCEPTED (as it stands)").replace("applied", "applied - see the tests"),
        FIELDS.replace("action_status", "action"),
        FIELDS.replace("action_status", "Action status")
        .replace("message_id", "Message ID")
        .replace("seen_at", "Seen-At"),
        FIELDS.replace("summary: Did it.", "summary: Did\n  it."),
        FIELDS.replace("summary: Did it.", "summary:\n  Did it."),
        FIELDS.replace("summary: Did it.", "summary: >\n  Did\n  it."),
        FIELDS.replace("summary: Did it.", 'summary: "Did it."'),
        "summary: Did\nit.\n" + FIELDS.replace("\nsummary: Did it.", ""),
        FIELDS.replace("summary: Did it.", "\nDid it."),
        FIELDS.replace("\n", "\r\n"),
        FIELDS.replace("2026-05-20T15:30:00.000Z", "2026-05-20T17:30:00+02:00"),
        FIELDS + "\nfiles_changed: a.py",
    ],
)
@pytest.mark.parametrize("tail", ["\n", "", "\n---\n", "\n\n---\n\n", "\n***\n"])
def test_a_receipt_is_read_in_every_shape_an_agent_writes(text: str, tail: str) -> None:
    assert receipts(f"\n## {ONE}\n\n{text}{tail}") == [APPLIED]
    second = f"## {TWO}\nmessage_id: {MSG}\n"
    if tail.endswith("\n"):
        assert receipts(f"\n## {ONE}\n{text}{tail}{second}") == [APPLIED, Receipt(TWO, MSG, None)]


def test_a_rule_glued_on_below_a_receipt_takes_nothing_from_it() -> None:
    text = f"\n## {ONE}\n\n{FIELDS}\n---\n\n## {TWO}\n\nmessage_id: {MSG}\n---\n"
    assert receipts(text) == [APPLIED, Receipt(TWO, MSG, None)]


def test_an_open_fence_in_one_receipt_hides_no_receipt_of_ours() -> None:
    ours = render_receipt(Receipt(TWO, MSG, SEEN, Decision.REJECTED, by="codex")).decode()
    found = receipts(f"\n## {ONE}\n\n```yaml\n{FIELDS}\n{ours}")
    assert found == [APPLIED, Receipt(TWO, MSG, SEEN, Decision.REJECTED, by="codex")]


def test_a_bare_receipt_says_that_the_message_was_seen() -> None:
    (receipt,) = receipts(f"\n## {ONE}\n\nmessage_id: {MSG}\n")
    assert receipt == Receipt(ONE, MSG, None)
    assert receipt.is_bare


def test_notes_may_be_wrapped_and_may_hold_what_looks_like_a_field() -> None:
    (receipt,) = receipts(f"\n## {ONE}\n\nmessage_id: {MSG}\nnotes: see\n  below: much\n  more\ndecision: deferred\n")
    assert (receipt.notes, receipt.decision) == ("see below: much more", Decision.DEFERRED)


@pytest.mark.parametrize("word", ["yes", "not accepted", "acceptedly", "accepted rejected"])
def test_a_decision_that_is_in_no_list_is_reported_and_the_receipt_still_counts_as_seen(word: str) -> None:
    text = f"# R\n\n## {ONE}\n\nmessage_id: {MSG}\ndecision: {word}\n"
    assert faults(text) == [(3, f"unknown decision {word!r}")]
    (block,) = scan(text.encode(), source="F.md", kind=Kind.RECEIPT).blocks
    assert receipt_of(block) == Receipt(ONE, MSG, None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("action: rewrote the parser", "unknown action 'rewrote the parser'"),
        ("seen_at: today", "seen_at is no time: 'today'"),
        (f"message_id: {MSG}, {compose('msg', START, 2)}", "speaks of 2 messages, only the first counts"),
    ],
)
def test_a_value_of_a_receipt_that_makes_no_sense_is_reported(line: str, reason: str) -> None:
    assert faults(f"\n\n\n## {ONE}\nmessage_id: {MSG}\n{line}\n") == [(4, reason)]


def test_a_receipt_for_no_message_is_a_fault_and_no_receipt() -> None:
    text = f"## {ONE}\n\ndecision: accepted\n\n## {TWO}\n\nmessage_id: msg_1\n"
    assert scan(text.encode(), source="F.md", kind=Kind.RECEIPT).blocks == []
    assert faults(text) == [(1, f"{ONE} names no message (message_id)"), (5, f"{TWO} names no message (message_id)")]


def test_a_heading_that_is_no_id_ends_a_receipt_and_gives_it_nothing() -> None:
    text = f"## {ONE}\n\n{FIELDS}\n\n## Receipt for the other one\n\nmessage_id: {MSG}\ndecision: rejected\n"
    (block,) = scan(text.encode(), source="F.md", kind=Kind.RECEIPT).blocks
    assert receipt_of(block) == APPLIED
    assert faults(text) == [(9, "the heading 'Receipt for the other one' is no receipt id")]


@pytest.mark.parametrize(
    ("text", "to", "created", "body"),
    [
        (
            f"from: agent\nto: {MSG}\ncreated_at: 2026-05-20T15:30:00.000Z\n\nNote: fine.\nto: do",
            MSG,
            SEEN,
            "Note: fine.\nto: do",
        ),
        (f"to: {MSG}\n\nhttps://example.org is it", MSG, None, "https://example.org is it"),
        (f"from: agent\n\nto: {MSG}\n\n## Steps\n\n---\n\nmore", MSG, None, "## Steps\n\n---\n\nmore"),
        (f"- **to:** `{MSG}`\n- created_at: 2026-05-20T15:30:00Z\n\nBody", MSG, SEEN, "Body"),
        (f"from: agent\nto: {MSG}\nHello there", MSG, None, "Hello there"),
        ("Just words: no head.", "", None, "Just words: no head."),
        ("from: agent\nmood: good\n\nTitle\n---\n\ntext", "", None, "Title\n---\n\ntext"),
        ("from: agent\n\nto: be or not to be", "", None, "to: be or not to be"),
    ],
)
def test_a_reply_has_its_metadata_in_its_head_only(text: str, to: str, created: datetime | None, body: str) -> None:
    ours = render_reply(reply_of(scan(f"## {REPLY}\n\nx\n".encode(), source="", kind=Kind.REPLY).blocks[0])).decode()
    for tail in ("\n", "\n" + ours):
        data = HEADERS["OUTBOX.md"] + f"\n---\n\n## {REPLY}\n\n{text}{tail}".encode()
        found = scan(data, source="OUTBOX.md", kind=Kind.REPLY)
        reply = reply_of(found.blocks[0])
        assert (reply.to, reply.created, reply.body, reply.sender.name) == (to, created, body, "agent")
        assert len(found.blocks) == (2 if tail != "\n" else 1)
        assert found.faults == []


def test_a_message_without_a_time_has_the_time_of_its_id() -> None:
    blocks = scan(original.written(MSG, "x", created_at=""), source="", kind=Kind.MESSAGE).blocks
    assert message_of(blocks[0], number=1, mailbox="m").message.created == START


def test_an_id_with_an_impossible_date_still_gives_a_message() -> None:
    ident = MSG.replace("20260520", "99999999")
    blocks = scan(original.written(ident, "x", created_at=""), source="", kind=Kind.MESSAGE).blocks
    assert message_of(blocks[0], number=1, mailbox="m").message.created == datetime.fromtimestamp(0, UTC)


def test_a_message_cancelled_without_a_time_is_withdrawn() -> None:
    data = original.written(MSG, "x").replace(b"status: unread", b"status: cancelled")
    letter = message_of(scan(data, source="", kind=Kind.MESSAGE).blocks[0], number=1, mailbox="m")
    assert (letter.is_withdrawn, letter.withdrawn_at) == (True, None)


def test_times_are_utc_whatever_zone_they_were_written_in() -> None:
    data = original.written(MSG, "x", created_at="2026-05-20T14:34:56+02:00")
    created = message_of(scan(data, source="", kind=Kind.MESSAGE).blocks[0], number=1, mailbox="m").message.created
    assert (created, created.utcoffset()) == (START, timedelta(0))
