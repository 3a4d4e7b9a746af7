"""The named statements: each explained, each used, each in the SQL that both databases share."""

from __future__ import annotations

import os
import re

import pytest

from restante.stores.sql.statements import HERE, STATEMENTS, parse_statements, read_sql


def _used() -> set[str]:
    words: set[str] = set()
    for name in os.listdir(HERE):
        if name.endswith(".py") and name != "statements.py":
            words |= set(re.findall(r'"([a-z_]+)"', read_sql(name)))
    deletes = re.search(r"for what in \(([^)]*)\)", read_sql("store.py"))
    assert deletes
    return words | {f"delete_{what}" for what in re.findall(r'"([a-z]+)"', deletes.group(1))}


def test_every_statement_is_used() -> None:
    assert set(STATEMENTS) - _used() == set()


def test_every_statement_says_what_it_is_for() -> None:
    heads = re.findall(r"^-- name: ([a-z_]+)\n(-- \S.*)?", read_sql("queries.sql"), re.MULTILINE)
    assert [name for name, comment in heads if not comment] == []
    assert len(heads) == len(STATEMENTS)


def test_statements_hold_only_what_both_databases_understand() -> None:
    for name, sql in STATEMENTS.items():
        assert sql.split()[0] in {"SELECT", "INSERT", "UPDATE", "DELETE"}, name
        assert not re.search(
            r"[?%{}\[\]`\"]|\bOR (REPLACE|IGNORE)\b|\bPRAGMA\b|\bROWID\b|\blength\(", sql, re.IGNORECASE
        ), name
        assert ";" not in sql, name


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="two name one"):
        parse_statements("-- name: one\n-- A.\nSELECT 1;\n\n-- name: one\n-- B.\nSELECT 2;\n")


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="no columns all"):
        parse_statements("-- name: one\n-- A.\nSELECT {all};\n")


def test_columns_are_put_in() -> None:
    text = "-- columns: all\na,\nb;\n\n-- name: one\n-- A.\nSELECT {all} FROM t;\n"
    assert parse_statements(text) == {"one": "SELECT a,\nb FROM t"}
