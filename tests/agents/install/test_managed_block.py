"""A block of ours in somebody's text file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.agents.managed_block import GUIDANCE, IGNORES, find_block, put_block, take_out_block
from restante.domain.errors import Unreadable

LINES = (b"## Mail", b"", b"Read it.")
NEWER = (b"## Mail", b"Read it at once.")
START, END = GUIDANCE.start, GUIDANCE.end


def put(data: bytes | None, lines: tuple[bytes, ...] = LINES) -> bytes:
    return put_block(data, lines, GUIDANCE, "AGENTS.md")


def take_out(data: bytes) -> bytes | None:
    return take_out_block(data, GUIDANCE, "AGENTS.md")


ORIGINALS = {
    "plain": b"# Rules\n\nBe kind.\n",
    "empty": b"",
    "one line feed": b"\n",
    "several line feeds": b"x\n\n\n\n",
    "no final line feed": b"# Rules\nBe kind.",
    "crlf": b"# Rules\r\n\r\nBe kind.\r\n",
    "crlf without the final one": b"# Rules\r\nBe kind.",
    "mixed, mostly lf": b"a\r\nb\nc\n",
    "mixed, mostly crlf": b"a\r\nb\r\nc\n",
    "lone cr at the end": b"a\nb\r",
    "lone cr at the end of crlf": b"a\r\nb\r\nc\r",
    "bom": b"\xef\xbb\xbf# Rules\n",
    "bom alone": b"\xef\xbb\xbf",
    "latin-1": b"Caf\xe9 r\xe9serv\xe9\n",
    "fenced example": b"Like this:\n```\n" + START + b"\nx\n" + END + b"\n```\n",
    "tilde fence in a list": b"- ~~~ text\n  " + START + b"\n  ~~~\n",
    "longer fence around a shorter": b"````\n```\n" + START + b"\n````\n",
    "indented code": b"    " + START + b"\n    " + END + b"\n",
    "words about a marker": b"The line `" + START + b"` begins the block.\n",
    "fence in a comment": b"<!-- off\n```\n-->\nText\n",
    "fence left with its list": b"- ```\n  code\n\nText\n",
    "inline code of three": b"```x``` is code\n",
}


@pytest.mark.parametrize("data", ORIGINALS.values(), ids=ORIGINALS.keys())
def test_putting_it_in_again_changes_nothing_and_taking_it_out_restores_every_byte(data: bytes) -> None:
    once = put(data)
    assert once != data
    assert find_block(once, GUIDANCE, "AGENTS.md") is not None
    assert put(once) == once
    assert put(put(once)) == once
    assert take_out(once) == data
    assert take_out(put(put(once, NEWER), LINES)) == data


@given(
    st.lists(
        st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b" ", b"\xef\xbb\xbf", b"\xe9", b"# T", b"- x", b"> q"]),
        max_size=12,
    ).map(b"".join)
)
def test_any_text_comes_back_byte_for_byte(data: bytes) -> None:
    once = put(data)
    assert put(once) == once
    assert take_out(once) == data


def test_a_file_that_is_nothing_but_the_block_goes() -> None:
    created = put(None)
    assert created == START + b"\n## Mail\n\nRead it.\n" + END + b"\n"
    assert take_out(created) is None
    assert take_out(created.replace(b"\n", b"\r\n")) is None


def test_an_empty_file_stays_an_empty_file() -> None:
    assert take_out(put(b"")) == b""


def test_the_block_takes_the_ending_of_the_files_lines() -> None:
    assert b"\n" not in put(b"a\r\nb\r\n").replace(b"\r\n", b"")
    assert b"\r" not in put(b"a\nb\n")


def test_a_block_that_git_gave_other_line_endings_is_current() -> None:
    converted = put(b"# Rules\n").replace(b"\n", b"\r\n")
    assert put(converted) == converted
    assert take_out(converted) == b"# Rules\r\n"


def test_an_older_block_is_replaced_where_it_stands_in_its_own_line_endings() -> None:
    data = put(b"a\r\n") + b"after\r\n"
    newer = put(data, NEWER)
    assert newer == b"a\r\n\r\n" + b"\r\n".join([START, *NEWER, END]) + b"\r\nafter\r\n"
    assert put(newer, LINES) == data


def test_text_that_was_written_behind_the_block_stays() -> None:
    assert take_out(put(b"before\n") + b"\nafter\n") == b"before\n\nafter\n"


def test_a_missing_empty_line_before_the_block_is_not_made_up_for() -> None:
    assert take_out(b"before\n" + put(None)) == b"before\n"


def test_trailing_blanks_behind_a_marker_do_no_harm() -> None:
    data = put(b"x\n").replace(START, START + b"  ").replace(END, END + b"\t")
    assert put(data) == data
    assert take_out(data) == b"x\n"


BLOCK = b"\n".join([START, *LINES, END]) + b"\n"
FAULTS = {
    "start alone": (b"x\n" + START + b"\ny\n", 2),
    "end alone": (b"x\n\n" + END + b"\n", 3),
    "start twice": (START + b"\n" + BLOCK, 2),
    "end twice": (BLOCK + END + b"\n", 6),
    "two blocks": (BLOCK + b"x\n" + BLOCK, 7),
    "reversed": (END + b"\nx\n" + START + b"\n", 1),
    "text behind the end": (START + b"\nx\n" + END + b" text\n", 3),
    "text behind the start": (START + b" text\nx\n" + END + b"\n", 1),
    "indented marker": (b"  " + START + b"\nx\n" + END + b"\n", 1),
    "utf-16": ("a\n".encode("utf-16"), 1),
    "utf-16 without a mark": ("ab\n".encode("utf-16-le"), 1),
    "zero byte": (b"a\nb\n\0\n", 3),
}


@pytest.mark.parametrize(("data", "line"), FAULTS.values(), ids=FAULTS.keys())
def test_what_is_odd_is_refused_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(Unreadable, match=rf"^AGENTS\.md:{line}: "):
        put(data)
    with pytest.raises(Unreadable, match=rf"^AGENTS\.md:{line}: "):
        take_out(data)


def test_a_fence_that_never_ends_would_hide_the_block_and_is_refused() -> None:
    with pytest.raises(Unreadable, match=r"^AGENTS\.md:3: a code fence"):
        put(b"x\n\n```sh\nmake\n")
    assert take_out(b"x\n\n```sh\nmake\n") == b"x\n\n```sh\nmake\n"


def test_a_block_that_a_later_fence_has_swallowed_is_neither_doubled_nor_forgotten() -> None:
    swallowed = put(b"x\n").replace(b"x\n", b"```\n", 1)
    with pytest.raises(Unreadable, match=r"^AGENTS\.md:1: "):
        put(swallowed)
    with pytest.raises(Unreadable, match=r"^AGENTS\.md:1: "):
        take_out(swallowed)


def test_ignore_rules_are_a_block_too_where_fences_mean_nothing() -> None:
    data = b"```\n*.log\n"
    once = put_block(data, (b"/x/",), IGNORES, "exclude")
    assert once == b"```\n*.log\n\n# restante: the mailbox's files\n/x/\n# restante: end\n"
    assert put_block(once, (b"/x/",), IGNORES, "exclude") == once
    assert take_out_block(once, IGNORES, "exclude") == data
