"""The published messages, keys and pins: what each proves, word for word, and the same bytes when signed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.autonomy.fixtures import needs_fixtures
from tests.trusted import AT, SIGNING, published_cases, read_yaml, sign_as_published

from restante.stores.oacp.reading import read_fields, read_typed
from restante.stores.oacp.trailer import split_trailer
from restante.stores.oacp.validating import validate
from restante.system.signing.jose import check_auth
from restante.system.signing.pins import parse_pins
from restante.system.signing.verifying import verify

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.intake import Verified

pytestmark = needs_fixtures
CASES = published_cases(SIGNING / "expected")


def prove(raw: bytes) -> Verified:
    pins = parse_pins(read_typed((SIGNING / "pins" / "allowed_signers.yaml").read_bytes()))
    return verify(raw, pins, now=AT, split=split_trailer, parse=read_fields)


def message_of(case: dict[str, Any]) -> bytes:
    name: str = case["message"]
    return (SIGNING / name).read_bytes()


def test_the_corpus_is_whole() -> None:
    assert len(CASES) == 22


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_published_message_proves_what_is_published(path: Path) -> None:
    case = read_yaml(path)
    expected = case["expected"]
    verified = prove(message_of(case))
    assert {key: verified.auth[key] for key in expected["message_auth"]} == expected["message_auth"]
    assert verified.annotation == expected["annotation"]
    assert len(verified.auth) == 12
    assert split_trailer(message_of(case)).state == expected["trailer_state"]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_published_message_is_found_wrong_in_the_published_words(path: Path) -> None:
    case = read_yaml(path)
    raw = message_of(case)
    assert validate(read_fields(raw), raw, check_auth=check_auth) == case["expected"]["validate_errors"]


@pytest.mark.parametrize("path", [one for one in CASES if "signers" in read_yaml(one)], ids=lambda path: path.stem)
def test_signing_a_published_prefix_again_gives_the_same_bytes(path: Path) -> None:
    case = read_yaml(path)
    prefix = (SIGNING / case["prefix"]).read_bytes()
    assert sign_as_published(prefix, *case["signers"]) == message_of(case)
