"""Block starts against markdown-it-py (CommonMark preset) on documents built from fragments that were chosen to hurt.

Link reference definitions are not generated: the reference lets more begin right behind one than the
specification's parsing strategy does. No generated document holds the exact shape of a writer's block (rule 2 of
the grammar): only CommonMark counts here.
"""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.trying import examples

from restante.stores.worktree.grammar import Kind, scan

ID = "msg_20260520T123456_01jvqk8z4m3n5p7r9s1t3v5w7x"
UPPER = "msg_20260520T123457_01JVQK8Z4M3N5P7R9S1T3V5W7X"

_PREFIXES = st.sampled_from(
    [
        "",
        "",
        "",
        "",
        " ",
        "  ",
        "   ",
        "    ",
        "     ",
        "\t",
        " \t",
        "> ",
        ">",
        ">\t",
        "> > ",
        "- ",
        "* ",
        "+ ",
        "-\t",
        "-   ",
        "-     ",
        "1. ",
        "2) ",
        "10. ",
        "- - ",
        "> - ",
        "- > ",
        "1. - ",
        "123456789. ",
        "1234567890. ",
        "      ",
        "  - ",
        "   > ",
    ]
)
_TEXTS = st.sampled_from(
    [
        *(
            f"## {ID}",
            f"## {UPPER}",
            f"## {ID} ##",
            f"##\t{ID}",
            f"##  **{ID}**  ",
            f"## `{ID}`",
            f"## *{ID}*",
            f"##{ID}",
        ),
        *(
            f"# {ID}",
            f"### {ID}",
            f"## {ID} x",
            f"## {ID}#",
            f"## {ID} \\#",
            ID,
            f"**{ID}**",
            f"`{UPPER}`",
            "## msg_123",
            "## Steps",
        ),
        *("---", "--", "-", "===", "=", "- - -", "***", "* * *", "___", "--- -", "----- ", "-- x"),
        *("```", "````", "``", "```text", "``` a`b", "~~~", "~~~~", "~~", "~~~ x", "~~~~~", "``` ", "~~~\t"),
        *("<!-- a", "-->", "<!-- b -->", "<!-->", "<script>", "</script>", "<pre>x", "</pre>", "<style", "<textarea>"),
        *(
            "<?php",
            "?>",
            "<!DOCTYPE html>",
            "<!X",
            "<![CDATA[",
            "]]>",
            "<div>",
            "</div>",
            "<h2",
            "<p/>",
            "<b>",
            "</b>",
            "<a b='c'>",
        ),
        *(
            "<b> x",
            "<a b=c d>",
            "<i\t/>",
            "</i >",
            "<1>",
            "<",
            "<td",
            "<search>",
            "text",
            "text text",
            "Mesaj:",
            "from: human",
        ),
        *(
            "",
            "",
            "",
            "",
            "",
            "-",
            "*",
            "1.",
            "2.",
            ">",
            "#",
            "##",
            "## ",
            "\\## x",
            "+",
            "\t",
            "  ",
            "&",
            "a  ",
            "x\\",
        ),
    ]
)
_ENDS = st.sampled_from(["\n", "\n", "\n", "\n", "\n", "\r\n", "\r"])
_DOCUMENTS = st.lists(st.tuples(_PREFIXES, _TEXTS, _ENDS), max_size=16).map(
    lambda lines: "".join(prefix + text + end for prefix, text, end in lines)
)

_MARKDOWN = MarkdownIt("commonmark")
_MARKDOWN.options["maxNesting"] = 1000


def starts_as_commonmark_sees_them(document: str) -> list[tuple[str, int]]:
    """Ids of the top-level headings of depth two, with the number of their first line from 0."""
    tokens = _MARKDOWN.parse(document)
    found = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h2" and opening.level == 0:
            assert opening.map
            text = "".join(child.content for child in inline.children or [])
            if text in (ID, UPPER):
                found.append((text, opening.map[0]))
    return found


_DEEP = re.compile(r" {0,3}(?: {4}|\t)[ \t]*\S")
_NESTED = re.compile(r">|\d{3}[.)]|[-+*.)][ \t]+(?:[-+*>]|\d+[.)])")


def is_misread_by_the_reference(document: str) -> bool:
    """Whether a line four columns in may go on with a paragraph of a quote or of a deep list lazily.

    The specification measures such a line from the innermost container that it continues, the reference from
    the container that the paragraph is in; so it takes a continued sentence for a heading, a list or a quote.
    """
    run = ""
    for line in re.split(r"\r\n|\r|\n", document):
        if _DEEP.match(line) and _NESTED.search(run):
            return True
        run = f"{run}\n{line}" if line.strip(" \t") else ""
    return False


def starts_as_we_see_them(document: str) -> list[tuple[str, int]]:
    data = document.encode()
    return [
        (block.id, len(data[: block.start].splitlines())) for block in scan(data, source="", kind=Kind.MESSAGE).blocks
    ]


@settings(max_examples=examples(400))
@given(_DOCUMENTS)
@example(f"> text\n{ID}\n---\n")
@example(f"- ```\n## {ID}\n")
@example(f"<div>\n## {ID}\n\n## {UPPER}\n")
def test_a_block_starts_exactly_where_commonmark_sees_a_top_level_heading_with_an_id(document: str) -> None:
    assume(not is_misread_by_the_reference(document))
    assert starts_as_we_see_them(document) == starts_as_commonmark_sees_them(document)


@pytest.mark.parametrize(
    ("document", "starts"),
    [
        (f"> > text\n     ## Steps\n</b>\n## {ID}\n", [(ID, 3)]),
        (f"123456789. text\n      - x\n{ID}\n---\n", []),
        (f"> text\n       > --- -\n{ID}\n---\n", []),
        (f"> - text\n    > > x\n{ID}\n---\n", []),
    ],
)
def test_a_deep_line_that_continues_a_paragraph_lazily_is_text(document: str, starts: list[tuple[str, int]]) -> None:
    assert starts_as_we_see_them(document) == starts


def test_a_link_reference_definition_is_no_part_of_the_heading_below_it() -> None:
    document = f"[a]: b\n[c]: <d>\n 'title'\n{ID}\n---\n[a]: b\n---\n{UPPER}\n"
    assert starts_as_we_see_them(document) == starts_as_commonmark_sees_them(document) == [(ID, 3)]
