"""Whose keys count: brought in, listed, revoked; a file with one bad entry counts for nothing."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from tests.trusted import TrustedHome, mode_of

from restante.domain.errors import NothingThere, Refused, StorageFailed, Unreadable, UsageError
from restante.stores.oacp.reading import read_typed
from restante.stores.oacp.trailer import split_trailer
from restante.system.signing import files, trust
from restante.system.signing.encoding import BadAuth
from restante.system.signing.jwk import derive_x, public_jwk, thumbprint
from restante.system.signing.pins import Pin, parse_catalog, parse_pins, render_catalog, render_pins
from restante.system.signing.policy import sign_policy


@pytest.fixture
def home(tmp_path: Path) -> TrustedHome:
    return TrustedHome(tmp_path)


def pins_of(home: TrustedHome, receiver: str = "dave") -> dict[str, Pin]:
    return parse_pins(yaml.safe_load((home.agent(receiver) / "trust" / "allowed_signers.yaml").read_bytes()))


def test_a_key_that_is_brought_in_is_known_and_believed(home: TrustedHome) -> None:
    made = home.key()
    done = home.trust().add(made.public_stub_path, "dave")
    assert (done.catalog, done.pins, done.receiver) == ("added", "added", "dave")
    assert pins_of(home)[made.listed.kid].status == "active"
    again = home.trust().add(made.public_stub_path, "dave")
    assert (again.catalog, again.pins) == ("unchanged", "unchanged")
    shown = home.trust().listed()
    assert shown["catalog"] == [
        {**parse_catalog(yaml.safe_load(Path(done.catalog_path).read_bytes()))[made.listed.kid].report()}
    ]
    assert json.loads(json.dumps(shown))["pins"]["dave"][0]["kid"] == made.listed.kid
    assert mode_of(done.pins_path) == 0o600


def test_a_key_in_the_catalog_alone_is_believed_by_nobody(home: TrustedHome) -> None:
    made = home.key()
    done = home.trust().add(made.public_stub_path)
    assert (done.catalog, done.pins) == ("added", "skipped")
    assert "pins_path" not in done.report()
    home.configure("signing: {verify_mode: enforce}\n")
    assert home.desk().verify(home.signed()).status == "untrusted"


def test_gaps_are_filled_and_nothing_is_replaced(home: TrustedHome) -> None:
    made = home.key()
    home.trust().add(made.public_stub_path, "dave")
    path = home.agent() / "trust" / "allowed_signers.yaml"
    whole = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(domain|instance): .*", r"\1: null", whole), encoding="utf-8")
    assert home.trust().add(made.public_stub_path, "dave").pins == "updated"
    assert path.read_text(encoding="utf-8") == whole
    path.write_text(whole.replace("agent: 'alice'", "agent: 'mallory'"), encoding="utf-8")
    with pytest.raises(Refused, match="another entry"):
        home.trust().add(made.public_stub_path, "dave")


def test_a_revoked_key_never_comes_back_by_bringing_it_in(home: TrustedHome) -> None:
    made = home.trusting()
    raw = home.signed()
    assert home.desk().verify(raw).status == "verified"
    done = home.trust().revoke(made.listed.kid, "dave")
    assert done.report() == {"kid": made.listed.kid, "receivers": {"dave": "revoked"}, "revoked": ["dave"]}
    assert home.desk().verify(raw).status == "revoked"
    with pytest.raises(Refused, match="never makes it count again"):
        home.trust().add(made.public_stub_path, "dave")
    assert home.trust().revoke(made.listed.kid, "dave").receivers == {"dave": "unchanged"}


def test_revoking_everywhere_is_everywhere_or_nowhere(home: TrustedHome) -> None:
    made = home.key()
    for receiver in ("dave", "carl"):
        home.trust().add(made.public_stub_path, receiver)
    broken = home.agent("dave") / "trust" / "allowed_signers.yaml"
    good = broken.read_bytes()
    broken.write_bytes(good.replace(b"active", b"actve"))
    with pytest.raises(Unreadable):
        home.trust().revoke(made.listed.kid)
    assert pins_of(home, "carl")[made.listed.kid].status == "active"
    broken.write_bytes(good)
    assert home.trust().revoke(made.listed.kid).receivers == {"carl": "revoked", "dave": "revoked"}


def test_a_file_that_cannot_be_written_takes_back_those_that_were(
    home: TrustedHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = home.key()
    for receiver in ("dave", "carl"):
        home.trust().add(made.public_stub_path, receiver)
    real, written = files.put, list[str]()

    def full(path: str, data: bytes) -> None:
        if "/dave/" in path and not written[1:]:
            raise StorageFailed("no space")
        written.append(path)
        real(path, data)

    monkeypatch.setattr(trust, "put", full)
    with pytest.raises(StorageFailed, match="no space"):
        home.trust().revoke(made.listed.kid)
    assert "/carl/" in written[0], "carl's was written first"
    assert pins_of(home, "carl")[made.listed.kid].status == "active"
    assert pins_of(home, "dave")[made.listed.kid].status == "active"


def test_pins_that_are_signed_are_signed_again_after_a_change(home: TrustedHome) -> None:
    first = home.trusting()
    home.key("dave")
    sign_policy(home.place(), home.clock.now(), split_trailer)
    second = home.key("carl")
    home.trust().add(second.public_stub_path, "dave")
    home.trust().revoke(first.listed.kid, "dave")
    desk = home.desk()
    assert desk.policy_error is None
    raw = home.signed()
    assert desk.verify(raw).status == "revoked", "the changed file is believed"
    assert b"auth: " in (home.agent() / "trust" / "allowed_signers.yaml").read_bytes()


def test_pins_that_somebody_changed_are_not_signed_over(home: TrustedHome) -> None:
    made = home.trusting()
    home.key("dave")
    sign_policy(home.place(), home.clock.now(), split_trailer)
    path = home.agent() / "trust" / "allowed_signers.yaml"
    path.write_bytes(path.read_bytes().replace(b"'alice'", b"'mallo'"))
    before = path.read_bytes()
    with pytest.raises(Unreadable, match="signature failed verification"):
        home.trust().revoke(made.listed.kid, "dave")
    assert path.read_bytes() == before


def test_many_that_bring_in_keys_at_once_lose_none(home: TrustedHome) -> None:
    made = [home.key(f"agent{number}") for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: home.trust().add(one.public_stub_path, "dave"), made))
    assert set(pins_of(home)) == {one.listed.kid for one in made}


def test_unknown_names_are_errors_and_make_nothing(home: TrustedHome) -> None:
    made = home.key()
    with pytest.raises(NothingThere):
        home.trust("nowhere")
    with pytest.raises(UsageError):
        home.trust("../demo")
    with pytest.raises(NothingThere, match="no agent 'nobody'"):
        home.trust().add(made.public_stub_path, "nobody")
    with pytest.raises(NothingThere):
        home.trust().revoke("A" * 43)
    with pytest.raises(NothingThere):
        home.trust().add(str(home.root / "nothing.json"))
    assert not home.agent("nobody").exists()
    assert not (home.root / "projects" / "nowhere").exists()


X = derive_x(bytes(32))
GOOD = {
    "agent": "alice",
    "domain": None,
    "instance": None,
    "kid": thumbprint(X),
    "jwk": public_jwk(X),
    "status": "active",
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"status": "trusted"}, "unknown status"),
        ({"status": None}, "unknown status"),
        ({"jwk": None}, "jwk must be a mapping"),
        ({"jwk": {**public_jwk(X), "d": "AAAA"}}, "private"),
        ({"jwk": {**public_jwk(X), "use": "sig"}}, "unexpected members"),
        ({"jwk": {**public_jwk(X), "crv": "P-256"}}, "Ed25519"),
        ({"jwk": public_jwk(X[:-1] + "B")}, "canonical|bytes|thumbprint"),
        ({"kid": "A" * 43}, "thumbprint"),
        ({"kid": "short"}, "kid"),
        ({"agent": "../x"}, "no agent's name"),
        ({"domain": 5}, "domain must be text"),
    ],
)
def test_one_bad_entry_makes_the_whole_file_useless(change: dict[str, object], reason: str) -> None:
    good_x = derive_x(bytes(range(32)))
    good = {**GOOD, "kid": thumbprint(good_x), "jwk": public_jwk(good_x)}
    with pytest.raises(BadAuth, match=reason):
        parse_pins({"version": 1, "signers": [good, {**GOOD, **change}]})


@pytest.mark.parametrize(
    "value",
    [None, [], {}, {"version": 2, "signers": []}, {"version": True, "signers": []}, {"version": 1, "signers": {}}],
)
def test_what_is_no_list_of_pins_is_none(value: object) -> None:
    with pytest.raises(BadAuth):
        parse_pins(value)


def test_a_key_that_stands_twice_makes_the_file_useless_whatever_the_status() -> None:
    with pytest.raises(BadAuth, match="duplicate kid"):
        parse_pins({"version": 1, "signers": [GOOD, {**GOOD, "status": "revoked"}]})


def test_a_revoked_key_needs_no_key() -> None:
    found = parse_pins({"version": 1, "signers": [{**GOOD, "status": "revoked", "jwk": None}]})
    assert found[thumbprint(X)].x == ""


@pytest.mark.parametrize("agent", ["null", "true", "1e5", "0x1F", "12", "on", "2026-10-01"])
def test_names_that_yaml_takes_for_something_else_come_back_as_names(agent: str) -> None:
    pin = Pin(thumbprint(X), agent, "d", "", X, "active")
    assert parse_pins(read_typed(render_pins([pin]))) == {pin.kid: pin}
    known = pin._replace(status="", created_at_utc="2026-10-01T12:00:00Z")
    assert parse_catalog(read_typed(render_catalog([known]))) == {pin.kid: known}
    assert parse_pins(read_typed(render_pins([]))) == {}
