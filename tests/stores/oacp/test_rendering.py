"""What is rendered arrives as it was sent, for any text; what programs of the format write for plain words is kept."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from restante.domain.errors import BadText
from restante.stores.oacp.reading import read_fields, read_typed
from restante.stores.oacp.rendering import render
from restante.testing.fakes import TRICKY_TEXTS

TEXTS = st.one_of(
    st.sampled_from([text for text in TRICKY_TEXTS if text]),
    st.text(min_size=1),
    st.lists(st.sampled_from([" a", "b ", "", "\t", "- c", "# d", "e: f", "1", "yes"]), min_size=1).map("\n".join),
)


@given(TEXTS, TEXTS)
def test_any_text_arrives_as_it_was_sent(subject: str, body: str) -> None:
    fields = {"id": "m1", "from": "a", "to": "b", "subject": subject, "body": body or "x"}
    raw = render({name: value for name, value in fields.items() if value})
    assert read_fields(raw)["body"] == fields["body"]
    assert read_fields(raw).get("subject", "") == subject
    # Another program's loader, with types: the same text, never a number, a date or a truth value.
    typed = yaml.safe_load(raw.decode())
    assert typed == read_typed(raw)
    assert typed["body"] == fields["body"]


def test_plain_words_and_blocks_have_the_bytes_that_other_programs_write() -> None:
    fields = {
        "id": "msg-20261130171604-a-dcd5",
        "from": "a",
        "to": ["b", "c"],
        "type": "question",
        "priority": "P2",
        "created_at_utc": "2026-11-30T17:16:04Z",
        "related_pr": "12",
        "subject": "Hi: there",
        "body": "line one\nline two\n\nend\n",
    }
    assert render(fields).decode() == (
        "id: msg-20261130171604-a-dcd5\nfrom: a\nto: [b, c]\ntype: question\npriority: P2\n"
        'created_at_utc: "2026-11-30T17:16:04Z"\nrelated_pr: 12\nsubject: "Hi: there"\n'
        "body: |\n  line one\n  line two\n  \n  end\n"
    )


@pytest.mark.parametrize("word", ["true", "No", "~", "null", "12", "1e3", "0x1f", "2026-01-01", ".inf", "<<", "!x"])
def test_a_word_that_yaml_takes_for_something_else_is_quoted(word: str) -> None:
    raw = render({"subject": word, "body": word})
    assert yaml.safe_load(raw.decode()) == {"subject": word, "body": word}


def test_a_lone_surrogate_is_refused_before_anything_is_written() -> None:
    with pytest.raises(BadText):
        render({"body": "a\ud800b"})
