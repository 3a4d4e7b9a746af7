"""The short way reads what YAML reads, or leaves it to YAML."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.trying import examples

from restante.stores.oacp.quick import quick_fields
from restante.stores.oacp.reading import NotYaml, read_fields, read_yaml
from restante.stores.oacp.rendering import render

_PIECES = st.sampled_from(
    [
        *(f"{key}:" for key in ("id", "body", "to", "subject")),
        *(" ", "  ", "\n", "\n  ", "\n\n", "|", "|-", "|2-", ">", '"', "'", "\\", "\\n", "[a, b]", "[a,b]", "[]", "a"),
        *("#", " #", "-", "- ", "---", "...", "!", "&a", "*a", "{", "}", "?", "%", "@", "`", "~", "=", "<<", ":", ": "),
        *("\t", "\r", "\u2028", "\x85", "\ufeff", "\0", "\xa0", "\u00e9", "\U0001f600", "x y", "auth: ", "word"),
    ]
)
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_LINES = st.lists(_PIECES | _TEXTS, max_size=14).map("".join)


def _by_yaml(raw: bytes) -> dict[str, object] | None:
    try:
        return read_yaml(raw)
    except NotYaml:
        return None


@settings(max_examples=examples(1500))
@given(
    text=_LINES
    | st.lists(st.tuples(st.sampled_from(["id", "to", "body"]), _LINES), max_size=3).map(
        lambda pairs: "".join(f"{key}: {value}\n" for key, value in pairs)
    )
)
@example(text="body: |\n  a\n \n  b\n")
@example(text="body: |\n  a\n   \n")
@example(text="body: a\n  b\nid: x\n")
@example(text='body: "a\\\\n"\n')
@example(text="body: |\n  a\n\nid: b\n")
@example(text=f"id: x\n{'k' * 1025}: x\n")
def test_the_short_way_says_what_yaml_says_or_nothing(text: str) -> None:
    fields = quick_fields(text)
    assert fields is None or fields == _by_yaml(text.encode())


@settings(max_examples=examples(300))
@given(body=st.lists(_PIECES | _TEXTS, min_size=1, max_size=12).map("".join), subject=_TEXTS)
def test_what_we_render_is_read_alike_both_ways(body: str, subject: str) -> None:
    fields = {"id": "msg-1", "to": ["a", "b.c"], "subject": subject.strip() or "s", "body": body or "b"}
    raw = render(fields)
    assert read_fields(raw) == read_yaml(raw) == fields


@pytest.mark.parametrize(
    "text",
    [
        'id: msg-1\nfrom: a\nto: [a, b]\ncreated_at_utc: "2026-01-01T00:00:00Z"\nrelated_pr: 12\nbody: x\n',
        'id: msg-1\nbody: |\n  one\n  \n    two\nauth: "abc_-"\n',
        'subject: "a: \\"b\\" \\\\ c"\nbody: |-\n  one\n\n  two\n',
    ],
)
def test_what_programs_write_takes_the_short_way(text: str) -> None:
    assert quick_fields(text) == read_yaml(text.encode())
