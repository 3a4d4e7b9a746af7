"""The named statements of queries.sql, and the way a SQL file is read."""

from __future__ import annotations

import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))

_VALUE = re.compile(r"(?<!:):([a-z_]+)")
_HEAD = re.compile(r"^-- (name|columns): ([a-z_]+)\n((?:--.*\n)*)", re.MULTILINE)


def read_sql(*names: str) -> str:
    """Return the text of a SQL file that lies beside this module.

    Args:
        names: Its path below this package.
    """
    with open(os.path.join(HERE, *names), encoding="utf-8") as file:
        return file.read()


def parse_statements(text: str) -> dict[str, str]:
    """Return the statements of a text by name, with the column lists put in.

    Raises:
        ValueError: A name is given twice, or a column list is unknown.
    """
    columns: dict[str, str] = {}
    statements: dict[str, str] = {}
    heads = list(_HEAD.finditer(text))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        body = text[head.end() : after.start() if after else len(text)].strip().rstrip(";")
        kind, name = head.group(1), head.group(2)
        if name in (columns if kind == "columns" else statements):
            raise ValueError(f"two {kind} {name}")
        whole = re.sub(r"\{([a-z_]+)\}", lambda match: _columns(columns, match.group(1)), body)
        (columns if kind == "columns" else statements)[name] = whole
    return statements


def _columns(columns: dict[str, str], name: str) -> str:
    if name not in columns:
        raise ValueError(f"no columns {name}")
    return columns[name]


def by_place(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return a statement with its values by place instead of by name, and their names in that order."""
    return _VALUE.sub("?", statement), tuple(_VALUE.findall(statement))


STATEMENTS = parse_statements(read_sql("queries.sql"))
