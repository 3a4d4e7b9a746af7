"""Addresses: every form is read, everything else is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.domain.address import Address, Home, parse_address
from restante.domain.errors import BadAddress

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)
pairs = st.tuples(names, names).map("/".join)
addresses = st.one_of(
    st.builds(Address, st.just(Home.WORKTREE), st.text(min_size=1).filter(lambda text: "\0" not in text)),
    st.builds(Address, st.just(Home.OACP), pairs),
    st.builds(Address, st.just(Home.ROLE), pairs),
    st.builds(Address, st.just(Home.SESSION), st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}", fullmatch=True)),
)


@given(addresses)
def test_an_address_is_read_back_from_its_text(address: Address) -> None:
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("text", "home", "name"),
    [
        ("worktree:/home of/a b\n", Home.WORKTREE, "/home of/a b\n"),
        ("worktree:C:x", Home.WORKTREE, "C:x"),
        ("oacp:project/codex", Home.OACP, "project/codex"),
        ("team/reviewer", Home.ROLE, "team/reviewer"),
        ("session:claude:01-a.b", Home.SESSION, "claude:01-a.b"),
    ],
)
def test_each_form_names_its_home(text: str, home: Home, name: str) -> None:
    assert parse_address(text) == Address(home, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "/",
        "name",
        "worktree:",
        "worktree:/a\0b",
        "session:",
        "session:-x",
        "session:a/b",
        "session:" + "x" * 129,
        "oacp:",
        "oacp:project",
        "oacp:a/b/c",
        "oacp:../b",
        "oacp:a/..",
        "a/b/c",
        "a/",
        "/b",
        "./b",
        ".hidden/b",
        "-x/b",
        "a/b\n",
        "a b/c",
        "x" * 65 + "/b",
        "mailto:a/b",
        "codex\u200b/b",
        "\u202ecedoc/b",
        "\u0441odex/b",
        "e\u0301/b",
        "\u00e9/b",
        "\uff41/b",
    ],
)
def test_what_is_no_address_is_refused_by_name(text: str) -> None:
    with pytest.raises(BadAddress) as caught:
        parse_address(text)
    assert repr(text) in caught.value.message
    assert caught.value.remedy
