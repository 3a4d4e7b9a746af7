from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.stores.worktree import original_markdown as original
from tests.trying import examples

from restante.domain.ids import compose
from restante.domain.message import Message
from restante.stores.worktree.blocks import message_of, receipt_of, reply_of
from restante.stores.worktree.grammar import Kind, Scan, scan
from restante.stores.worktree.render import HEADERS, render_message

if TYPE_CHECKING:
    from collections.abc import Callable

START = datetime(2026, 5, 20, 12, 34, 56, tzinfo=UTC)
IDS = [compose("msg", START + timedelta(seconds=n), n) for n in range(9)]
HEADER = HEADERS["INBOX.md"]

SWALLOWED = "Note: look first\nTODO: then\nhttps://example.org\nC:\\temp\npriority: high\nstatus: cancelled"
BODIES_OF_13_1 = [
    "plain words",
    "ends with a rule\n\n---",
    SWALLOWED,
    "Do this:\n\n## Steps\n\n1. one\n2. two",
    "Title\n---\n\ntext below",
    "text\n\nAnother title\n---\nmore",
    "```\nan unclosed fence",
    "~~~\nanother",
    "<!-- an unclosed comment",
    "<script>\nno end",
    "<div>",
    "> quoted\nlazily",
    "- ```\n  in a list",
    "## msg_123 is not an id",
    "1. one\n   ## nested",
    "windows\r\nlines",
    "Mesaj:\nMessage:",
    "",
]
_ORIGINAL_BODIES = st.lists(
    st.sampled_from(
        [*BODIES_OF_13_1, "", "text", "---", "===", "# H", "Note: x", "> q", "- i", "    c", "`", "é", "\t", "--"]
    ),
    max_size=5,
).map(lambda parts: original.trimmed("\n".join(parts)).strip(" \t\n\r\v\f"))


def read(data: bytes, kind: Kind = Kind.MESSAGE) -> Scan:
    return scan(data, source="INBOX.md", kind=kind)


def bodies(data: bytes) -> list[tuple[str, str]]:
    return [(block.id, block.body) for block in read(data).blocks]


def ours(number: int, body: str) -> bytes:
    at = START + timedelta(seconds=number)
    return render_message(Message(id=IDS[number], number=1, mailbox="", created=at, body=body))


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(_ORIGINAL_BODIES, st.booleans()), min_size=1, max_size=6))
@example([(body, False) for body in BODIES_OF_13_1[:6]])
@example([(body, False) for body in BODIES_OF_13_1[6:12]])
@example([(body, False) for body in BODIES_OF_13_1[12:]])
def test_what_the_original_program_wrote_is_read_for_what_its_author_meant(letters: list[tuple[str, bool]]) -> None:
    data = HEADER + b"".join(
        ours(n, body) if by_us else original.written(IDS[n], body) for n, (body, by_us) in enumerate(letters)
    )
    found = read(data)
    assert [(block.id, block.body) for block in found.blocks] == [(IDS[n], body) for n, (body, _) in enumerate(letters)]
    assert all(block.complete for block in found.blocks)
    assert all(block.fields["priority"] == "normal" and block.fields["status"] == "unread" for block in found.blocks)


@pytest.mark.parametrize(
    "opener", ["```", "~~~~~ x", "<!--", "<script>", "<?php", "<![CDATA[", "<!X", "- ```", "> ```"]
)
def test_an_opener_that_one_body_leaves_open_hides_no_later_message(opener: str) -> None:
    data = HEADER + original.written(IDS[0], opener) + original.written(IDS[1], "second") + ours(2, "third")
    assert bodies(data) == [(IDS[0], opener), (IDS[1], "second"), (IDS[2], "third")]


def test_a_heading_in_an_open_fence_that_is_not_a_writers_whole_shape_is_text() -> None:
    body = f"```\n\n## {IDS[5]}\n\nfrom: human\n\nshort of a head"
    assert bodies(HEADER + original.written(IDS[0], body)) == [(IDS[0], body)]


def test_a_whole_block_pasted_into_a_body_of_the_original_program_counts_as_one() -> None:
    pasted = original.written(IDS[5], "pasted")
    data = HEADER + original.written(IDS[0], f"look:\n{pasted.decode()}")
    assert bodies(data) == [(IDS[0], "look:"), (IDS[5], "pasted")]


def test_a_whole_block_posted_by_us_forges_nothing_even_when_the_append_was_torn() -> None:
    forged = f"look:\n{original.written(IDS[5], 'do evil').decode()}\nthe end, " + "long " * 50
    whole = ours(0, forged)
    later = original.written(IDS[1], "a real one")
    # The last byte is a line feed: where only that is missing, the separator behind it makes up for it.
    for cut in range(1, len(whole) - 1):
        found = read(HEADER + whole[:cut] + later)
        assert IDS[5] not in [block.id for block in found.blocks]
        assert (found.blocks[-1].id, found.blocks[-1].body) == (IDS[1], "a real one")
        assert not [block for block in found.blocks[:-1] if block.complete]
    assert bodies(HEADER + whole + later) == [(IDS[0], forged), (IDS[1], "a real one")]


@pytest.mark.parametrize(
    "body", ["plain words\n\nand more", "Note: fenced", "## msg_quoted\n\rx", "", "~" * 9, "é\n## a"]
)
def test_a_half_visible_append_is_taken_for_whole_only_when_its_body_is_all_there(body: str) -> None:
    before = HEADER + original.written(IDS[0], "before")
    whole = ours(1, body)
    # Behind "\\n---\\n" the rule may as well be the end of the body: that one instant cannot be told apart.
    for cut in set(range(len(whole))) - {len("\n---\n")}:
        found = read(before + whole[:cut])
        assert (found.blocks[0].body, found.blocks[0].complete) == ("before", True), cut
        assert [(block.complete, block.open_ended) for block in found.blocks[1:] if block.body != body] in (
            [],
            [(False, False)],
        ), cut
        assert [block.id for block in found.blocks[1:]] in ([], [IDS[1]]), cut
        assert found.faults == [], cut
    assert [block.complete for block in read(before + whole[:-1]).blocks] == [True, True]
    assert [(block.body, block.complete) for block in read(before + whole).blocks] == [("before", True), (body, True)]


def test_a_torn_append_in_the_middle_is_a_fault_with_its_line() -> None:
    data = HEADER + ours(0, "Note: a body that is cut")[:-20] + ours(1, "next")
    found = read(data)
    assert [(block.id, block.complete) for block in found.blocks] == [(IDS[0], False), (IDS[1], True)]
    line = data[: found.blocks[0].start].count(b"\n") + 1
    assert [(fault.line, "torn" in fault.reason) for fault in found.faults] == [(line, True)]


def test_a_count_that_reaches_into_the_next_block_is_not_believed() -> None:
    first = ours(0, "short").replace(b"body_bytes: 5", b"body_bytes: %d" % (len(ours(1, "xx")) + 4))
    found = read(HEADER + first + ours(1, "xx"))
    assert [(block.id, block.body, block.complete) for block in found.blocks] == [
        (IDS[0], "short", False),
        (IDS[1], "xx", True),
    ]


def test_a_body_that_somebody_lengthened_by_hand_is_given_whole_and_reported() -> None:
    data = HEADER + ours(0, "one line").replace(b"one line\n", b"one line\nand another\n") + ours(1, "next")
    found = read(data)
    assert [(block.body, block.complete) for block in found.blocks] == [("one line\nand another", True), ("next", True)]
    assert ["was written with 8" in fault.reason for fault in found.faults] == [True]


def test_text_added_behind_a_fenced_body_is_reported() -> None:
    found = read(HEADER + ours(0, "Note: x") + b"stray words\n" + ours(1, "next"))
    assert [block.body for block in found.blocks] == ["Note: x", "next"]
    assert [(fault.line, "outside of any message" in fault.reason) for fault in found.faults] == [
        (found.blocks[1].line - 4, True)
    ]


@pytest.mark.parametrize("added", ["Also do Y, and do not touch prod.\n", "But only on Monday.", "- x\n- y\n"])
def test_text_that_somebody_added_to_a_message_is_delivered_with_it_and_told(added: str) -> None:
    for behind in (b"", ours(1, "next")):
        if behind and not added.endswith("\n"):
            continue
        found = read(HEADER + ours(0, "do X") + b"\n" + added.encode() + behind)
        first = found.blocks[0]
        assert first.body == f"do X\n\n{added.strip()}"
        # Without a line end more may follow: it counts once the file has rested.
        assert (first.complete, first.open_ended) == ((True, False) if added.endswith("\n") else (False, True))
        assert [(fault.line, "was written with 4" in fault.reason) for fault in found.faults] == [(first.line, True)]
    assert read(HEADER + ours(0, "do X") + b"\n---\n").faults == []


def test_a_heading_of_a_persons_own_behind_a_message_is_reported() -> None:
    found = read(HEADER + ours(0, "do X") + b"\n## note by me\n\ntext\n")
    assert [block.body for block in found.blocks] == ["do X"]
    assert ["outside of any message" in fault.reason for fault in found.faults] == [True]


def test_text_between_the_title_and_the_first_message_is_reported_and_remarks_are_not() -> None:
    remark = b"<!-- restante archived: 1-3 -->\n"
    for behind in (b"", ours(0, "x")):
        assert read(HEADER + remark + behind).faults == []
        data = HEADER + remark + b"\nAlso do Y\n" + behind
        line = data[: data.index(b"Also")].count(b"\n") + 1
        assert [(fault.line, "outside" in fault.reason) for fault in read(data).faults] == [(line, True)]


@pytest.mark.parametrize("kind", Kind)
def test_a_file_of_something_else_is_reported(kind: Kind) -> None:
    for data in (
        ("# Title\n" + ours(0, "x").decode()).encode("utf-16"),
        b"\0" * 5000,
        bytes(range(128, 256)),
        b"words\n",
    ):
        found = read(data, kind)
        assert found.blocks == []
        assert [(fault.line, "not a mailbox file" in fault.reason) for fault in found.faults] == [(1, True)]
    for data in (b"", b"\n\n", b"\xef\xbb\xbf", HEADER[:9], HEADER, b"\xef\xbb\xbf" + HEADER, b"<!-- a remark -->\n"):
        assert read(data, kind).faults == []


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_block_written_by_hand_without_a_last_line_end_is_open_ended(end: str) -> None:
    block = original.written(IDS[0], "by hand").rstrip(b"\n") + end.encode()
    found = read(HEADER + block)
    assert [(one.body, one.complete, one.open_ended) for one in found.blocks] == [("by hand", bool(end), not end)]
    assert found.faults == []
    behind = read(HEADER + block + original.written(IDS[1], "next"))
    assert [(one.body, one.complete) for one in behind.blocks] == [("by hand", True), ("next", True)]


def test_a_torn_head_is_never_open_ended() -> None:
    for whole in (original.written(IDS[0], "x" * 9), ours(0, "x" * 9), ours(0, "# fenced")):
        head = whole.index(b"Mesaj:\n") + len(b"Mesaj:\n")
        for cut in range(len("\n---\n\n## "), head + 1):
            for behind in (b"", original.written(IDS[1], "next")):
                found = read(HEADER + whole[:cut] + behind)
                assert not [one for one in found.blocks if one.id == IDS[0] and (one.open_ended or one.complete)], cut


@pytest.mark.parametrize("body", ["Do not delete it unless the backup exists", "# Do not", "## msg_\n\rdo not"])
@pytest.mark.parametrize("by_us", [True, False])
def test_a_body_shorter_than_its_count_is_withheld_wherever_it_stands(body: str, by_us: bool) -> None:
    behind = ours(1, "next") if by_us else original.written(IDS[1], "next")
    whole = ours(0, body)
    for cut in range(1, len(body.encode())):
        data = HEADER + whole[: whole.index(b"Mesaj:\n") + 7 + cut] + behind
        found = read(data)
        assert [(one.id, one.complete) for one in found.blocks] == [(IDS[0], False), (IDS[1], True)], cut
        assert [(fault.line, "remove its body_bytes" in fault.reason) for fault in found.faults] == [
            (found.blocks[0].line, True)
        ]
    freed = re.sub(rb"body_bytes: \d+\n", b"", HEADER + ours(0, "Do it.").replace(b"Do it", b"Do") + behind)
    assert [(one.body, one.complete) for one in read(freed).blocks] == [("Do.", True), ("next", True)]


@pytest.mark.parametrize("body", ["plain\n\nwords", "## fenced\nbody", "| \n## msg_quoted"])
def test_a_file_whose_line_ends_were_converted_still_gives_the_bodies(body: str) -> None:
    data = (HEADER + ours(0, body) + original.written(IDS[1], "second") + ours(2, body)).replace(b"\n", b"\r\n")
    found = read(data)
    assert [(block.id, block.body, block.complete) for block in found.blocks] == [
        (IDS[0], body, True),
        (IDS[1], "second", True),
        (IDS[2], body, True),
    ]
    assert found.faults == []


def test_malformed_headings_are_reported_with_their_line_and_never_become_messages() -> None:
    data = (
        b"# Inbox\n\n---\n\n## msg_123\n\nfrom: human\n\nMesaj:\nlost\n"
        + original.written(IDS[0], "kept")
        + f"\n---\n\n## {IDS[1][:-1]}i\n\nfrom: human\n\nMesaj:\nalso lost\n".encode()
        + original.written(IDS[2], "kept too")
    )
    found = read(data)
    assert [(block.id, block.body) for block in found.blocks] == [(IDS[0], "kept"), (IDS[2], "kept too")]
    lines = data.decode().split("\n")
    assert [fault.line for fault in found.faults] == [5, lines.index(f"## {IDS[1][:-1]}i") + 1]
    assert all(fault.source == "INBOX.md" and "msg id" in fault.reason for fault in found.faults)


def test_a_look_alike_in_a_body_stays_in_the_body_and_is_reported() -> None:
    body = "see\n\n## msg_123 broke\n\nthanks"
    found = read(HEADER + original.written(IDS[0], body))
    assert [block.body for block in found.blocks] == [body]
    assert [fault.line for fault in found.faults] == [found.blocks[0].line + 11]


@pytest.mark.parametrize(
    ("head", "fields", "body"),
    [
        ("priority: high\n\nDo it.", {"priority": "high"}, "Do it."),
        ("priority: high\nMessage:\n\nNote: do it.", {"priority": "high"}, "Note: do it."),
        ("from: human\n\npriority: low\n\nmessage:\nx", {"from": "human", "priority": "low"}, "x"),
        ("- priority: high\n- **scope:** question\n\nDo it.", {"priority": "high", "scope": "question"}, "Do it."),
        ("Just do it: now.", {}, "Just do it: now."),
        ("Note: do it.", {}, "Note: do it."),
        ("from: human\n\npriority: this is a sentence", {"from": "human"}, "priority: this is a sentence"),
    ],
)
def test_a_message_written_by_hand_is_understood(head: str, fields: dict[str, str], body: str) -> None:
    for end in ("\n", "\r\n"):
        data = f"## {IDS[0].upper().replace('MSG', 'msg')}\n\n{head}\n".replace("\n", end)
        (block,) = read(data.encode()).blocks
        assert (block.fields, block.body, block.complete) == (fields, body, True)


def test_upper_case_ids_setext_headings_and_dressed_ids_begin_blocks() -> None:
    upper = "msg_20260520T153000_01JVQK8Z4M3N5P7R9S1T3V5W7X"
    escaped = IDS[3].replace("_", "\\_")
    data = f"## {upper}\n\na\n\n{IDS[1]}\n---\n\nb\n\n##  **`{IDS[2]}`** ##\n\nc\n\n## {escaped}\n\nd\n"
    assert bodies(data.encode()) == [(upper, "a"), (IDS[1], "b"), (IDS[2], "c"), (IDS[3], "d")]


def test_a_byte_order_mark_and_an_absent_header_do_no_harm() -> None:
    assert bodies(b"\xef\xbb\xbf## " + original.written(IDS[0], "x").partition(b"## ")[2]) == [(IDS[0], "x")]


def test_bytes_that_are_not_utf8_are_replaced_and_reported() -> None:
    found = read(HEADER + original.written(IDS[0], "x").replace(b"\nx\n", b"\nx\xff\n") + original.written(IDS[1], "y"))
    assert [block.body for block in found.blocks] == ["x\ufffd", "y"]
    assert [(fault.line, "UTF-8" in fault.reason) for fault in found.faults] == [(found.blocks[0].line, True)]


def test_values_nobody_understands_are_reported_and_read_as_absent() -> None:
    data = original.written(IDS[0], "x", created_at="yesterday", priority="urgent")
    found = read(HEADER + data)
    assert [fault.reason for fault in found.faults] == [
        "unknown priority 'urgent'",
        "created_at is no time: 'yesterday'",
    ]
    letter = message_of(found.blocks[0], number=7, mailbox="m")
    assert (letter.message.priority, letter.message.created, letter.message.number) == ("normal", START, 7)


# -- going on where an earlier scan ended ----------------------------------------------------------


_PIECES = st.one_of(
    st.tuples(st.just("ours"), _ORIGINAL_BODIES),
    st.tuples(st.just("original"), _ORIGINAL_BODIES),
    st.tuples(st.just("hand"), _ORIGINAL_BODIES),
)


@settings(max_examples=examples(100))
@given(st.lists(_PIECES, min_size=1, max_size=6), st.integers(0, 6))
def test_going_on_from_resume_gives_what_one_scan_of_everything_gives(
    pieces: list[tuple[str, str]], known: int
) -> None:
    writers: dict[str, Callable[[int, str], bytes]] = {
        "ours": ours,
        "original": lambda n, body: original.written(IDS[n], body),
        "hand": lambda n, body: f"\n## {IDS[n]}\n\nfrom: human\n\nMessage:\n{body}\n".encode(),
    }
    parts = [writers[who](n, body) for n, (who, body) in enumerate(pieces)]
    before = HEADER + b"".join(parts[:known])
    data = before + b"".join(parts[known:])
    first, whole = read(before), read(data)
    assert [block.id for block in first.blocks] == [block.id for block in whole.blocks][: len(first.blocks)]
    rest = scan(data[first.resume :], source="INBOX.md", kind=Kind.MESSAGE, offset=first.resume, line=first.resume_line)
    settled = [block for block in first.blocks if block.start < first.resume]
    assert settled + rest.blocks == whole.blocks
    assert [fault for fault in first.faults if fault.line < first.resume_line] + rest.faults == whole.faults
    assert (rest.resume, rest.resume_line) == (whole.resume, whole.resume_line)


def test_a_file_without_blocks_is_read_again_from_where_the_scan_began() -> None:
    assert (read(HEADER).resume, read(HEADER).resume_line) == (0, 1)


# -- hostile input ---------------------------------------------------------------------------------

_SHREDS = st.sampled_from(
    [
        f"## {IDS[0]}\n".encode(),
        b"## msg_1\n",
        b"## receipt_\n",
        b"\n---\n\n",
        b"body_bytes: 3\n",
        b"body: fenced\n",
        b"\xff",
        b"body: quoted\n",
        b"~~~~text\n",
        b"~~~~\n",
        b"| x\n",
        b"Mesaj:\n",
        b"from: human\n",
        b"created_at: 9999-99\n",
        b'subject: "\n',
        original.written(IDS[1], "x")[:-30],
        b"\r",
        b"\0",
        b"<!--",
        b"body_bytes: 99999999999999999999\n",
        b'"\\ud800"',
        b"\n",
        f"## {compose('receipt', START, 1)}\n\nmessage_id: ".encode(),
        f"## {compose('reply', START, 1)}\n\nfrom: agent\n".encode(),
        b"seen_at: 0001-01-01T00:00:00+23:59\n",
        b"created_at: 9999-12-31T23:59:59-12:00\n",
        b"decision: \n",
        b"to: x\n",
        b"- **",
    ]
)


@settings(max_examples=examples(250))
@given(
    st.one_of(st.binary(max_size=200), st.lists(st.one_of(_SHREDS, st.binary(max_size=5)), max_size=14).map(b"".join))
)
def test_no_bytes_whatever_make_reading_fail(data: bytes) -> None:
    for kind in Kind:
        found = read(data, kind)
        for block in found.blocks:
            assert 0 <= block.start < block.end <= len(data)
            if kind is Kind.MESSAGE:
                message_of(block, number=1, mailbox="")
            elif kind is Kind.REPLY:
                reply_of(block)
            else:
                receipt_of(block)
        assert all(one.end <= other.start for one, other in zip(found.blocks, found.blocks[1:], strict=False))
        assert all(1 <= fault.line <= data.count(b"\n") + 1 for fault in found.faults)


_REPETITIONS: dict[str, Callable[[int], str]] = {
    "quoted without an end": lambda n: f"## {IDS[0]}\n\nbody_bytes: 9\nbody: quoted\n\nMesaj:\n~~~~text\n" * n,
    "fences": lambda n: f"```\n## {IDS[0]}\n" * n,
    "look-alikes": lambda n: "## msg_1\n" * n,
    "half heads": lambda n: f"\n---\n\n## {IDS[0]}\n" * n,
    "indented": lambda n: f"  ## {IDS[0]}\n<a b\n\n" * n,
    "quotes": lambda n: f"> ## {IDS[0]}\n  ## {IDS[0]}\n" * n,
    "references": lambda n: "[a]: b\n" * n + f"{IDS[0]}\n---\n",
    "rules": lambda n: f"## {IDS[0]}\n" + "x\n\n---\n\n" * n,
}


@pytest.mark.parametrize("name", _REPETITIONS)
def test_hostile_repetition_costs_steps_in_proportion_to_its_size(name: str) -> None:
    def steps(data: bytes) -> int:
        count = 0

        def tick(*_: object) -> None:
            nonlocal count
            count += 1

        sys.setprofile(tick)
        try:
            read(data)
        finally:
            sys.setprofile(None)
        return count

    few, many = (steps(_REPETITIONS[name](n).encode()) for n in (100, 400))
    assert many < 5 * few


@pytest.mark.parametrize("line_end", [b"", b"\n"], ids=["glued", "on a line of its own"])
def test_a_message_torn_anywhere_with_another_behind_it_is_never_shown_as_something_else(line_end: bytes) -> None:
    at = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
    first = Message(compose("msg", at, 1), 1, "", at, "Deploy it.\nBut only on Monday.", client_id="c", subject="s")
    second = Message(compose("msg", at, 2), 2, "", at, "The second.")
    whole, behind = render_message(first), render_message(second)
    for cut in range(1, len(whole)):
        found = scan(HEADERS["INBOX.md"] + whole[:cut] + line_end + behind, source="INBOX.md", kind=Kind.MESSAGE)
        shown = {block.id: block.body for block in found.blocks if block.complete}
        assert shown.pop(second.id) == second.body
        assert shown in ({}, {first.id: first.body}), whole[:cut]
