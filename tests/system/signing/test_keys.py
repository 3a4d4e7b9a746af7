"""Keys: made once, kept to oneself, proven before they sign."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from tests.trusted import AT, mode_of

from restante.domain.errors import NothingThere, RestanteError, Unreadable, Unsafe, UsageError
from restante.system.signing import keys


def make(home: Path, agent: str = "alice", minutes: int = 0) -> keys.Made:
    return keys.generate(str(home), agent, AT + timedelta(minutes=minutes))


def test_a_key_lies_where_the_format_says_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    made = make(tmp_path)
    path, stub = made.listed.key_path, made.public_stub_path
    domain = (tmp_path / "keys" / "trust_domain").read_text(encoding="utf-8").strip()
    instance = (tmp_path / "keys" / "instance_id").read_text(encoding="utf-8").strip()
    assert path == str(tmp_path / "keys" / domain / "alice" / instance / f"{made.listed.kid}.json")
    assert (mode_of(path), mode_of(stub)) == (0o600, 0o644)
    place = os.path.dirname(path)
    while place != str(tmp_path):
        assert mode_of(place) == 0o700
        place = os.path.dirname(place)
    assert made.agent_urn == f"urn:oacp:agent:{domain}:alice"
    assert made.instance_urn == f"urn:uuid:{instance}"
    assert "d" not in json.loads(Path(stub).read_text(encoding="utf-8"))["jwk"]


def test_two_keys_share_home_and_installation_and_the_newest_signs_first(tmp_path: Path) -> None:
    old, new = make(tmp_path), make(tmp_path, minutes=1)
    found = keys.signing_keys(str(tmp_path), "alice")
    assert [one.kid for one in found] == [new.listed.kid, old.listed.kid]
    assert len({(one.trust_domain, one.instance_id) for one in found}) == 1
    assert [one.kid for one in keys.listed(str(tmp_path))] == [new.listed.kid, old.listed.kid]


def test_at_most_eight_keys_sign(tmp_path: Path) -> None:
    made = [make(tmp_path, minutes=minute) for minute in range(10)]
    found = keys.signing_keys(str(tmp_path), "alice")
    assert [one.kid for one in found] == [one.listed.kid for one in reversed(made)][:8]


def test_sixteen_that_begin_a_home_at_once_agree_whose_it_is(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda number: make(tmp_path, f"agent{number}"), range(16)))
    assert len({one.agent_urn.rsplit(":", 1)[0] for one in made}) == 1
    assert len({one.instance_urn for one in made}) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_does_not_sign(tmp_path: Path, mode: int) -> None:
    made = make(tmp_path)
    os.chmod(made.listed.key_path, mode)
    with pytest.raises(Unsafe, match="can be used by others"):
        keys.signing_keys(str(tmp_path), "alice")


def test_a_key_in_a_directory_that_others_can_enter_does_not_sign(tmp_path: Path) -> None:
    made = make(tmp_path)
    os.chmod(os.path.dirname(made.listed.key_path), 0o755)
    with pytest.raises(Unsafe, match=r"mode 0755"):
        keys.signing_keys(str(tmp_path), "alice")


@pytest.mark.parametrize("change", ["seed", "x", "kid", "agent", "d_gone", "json"])
def test_a_key_that_is_not_what_its_name_says_does_not_sign(tmp_path: Path, change: str) -> None:
    made, other = make(tmp_path), make(tmp_path / "other")
    path = Path(made.listed.key_path)
    value, foreign = (json.loads(Path(one.listed.key_path).read_text(encoding="utf-8")) for one in (made, other))
    if change == "seed":
        value["d"] = foreign["d"]
    elif change == "x":
        value["x"] = foreign["x"]
    elif change == "kid":
        value["kid"] = foreign["kid"]
    elif change == "agent":
        value["agent"] = "../alice"
    elif change == "d_gone":
        del value["d"]
    path.write_text("{" if change == "json" else json.dumps(value), encoding="utf-8")
    with pytest.raises(Unreadable):
        keys.load_key(str(path))


def test_a_key_behind_a_link_does_not_sign(tmp_path: Path) -> None:
    made = make(tmp_path)
    path = Path(made.listed.key_path)
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))
    with pytest.raises(RestanteError):
        keys.load_key(str(path))


def test_who_has_no_key_cannot_sign_and_is_told_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(NothingThere, match="no signing key") as told:
        keys.signing_keys(str(tmp_path), "alice")
    assert "keygen" in told.value.remedy


def test_replacing_a_key_lets_both_sign_until_the_old_one_is_retired(tmp_path: Path) -> None:
    home = str(tmp_path)
    with pytest.raises(NothingThere):
        keys.rotate(home, "alice", AT)
    old = make(tmp_path)
    new = keys.rotate(home, "alice", AT + timedelta(days=1))
    assert len(keys.signing_keys(home, "alice")) == 2
    kept = keys.retire(home, "alice", old.listed.kid)
    assert [one.kid for one in keys.signing_keys(home, "alice")] == [new.listed.kid]
    assert mode_of(kept) == 0o600
    assert old.listed.kid in keys.stubs_of(home, "alice"), "what it signed can still be told"
    with pytest.raises(UsageError, match="only key"):
        keys.retire(home, "alice", new.listed.kid)
    with pytest.raises(NothingThere):
        keys.retire(home, "alice", old.listed.kid)


@pytest.mark.parametrize("name", ["", "..", "a/b", ".x", "a" * 65, "ü", "a\n"])
def test_no_agent_name_leads_out_of_the_keys(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        keys.generate(str(tmp_path), name, AT)
    assert not list(tmp_path.iterdir())


def test_a_private_key_is_not_taken_for_what_is_given_away(tmp_path: Path) -> None:
    made = make(tmp_path)
    with pytest.raises(Unreadable, match="private key"):
        keys.read_stub(made.listed.key_path)
    assert keys.read_stub(made.public_stub_path).kid == made.listed.kid


@pytest.mark.parametrize(
    "change",
    [
        {"kid": "A" * 43},
        {"agent": "bob"},
        {"agent_urn": "urn:oacp:agent:nowhere:alice"},
        {"agent_urn": 5},
        {"instance_urn": "urn:uuid:x"},
        {"jwk": None},
        {"jwk": {"kty": "OKP", "crv": "Ed25519", "x": "AA"}},
        {"jwk": {"kty": "RSA"}},
    ],
)
def test_a_stub_that_does_not_fit_together_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    made = make(tmp_path)
    value = json.loads(Path(made.public_stub_path).read_text(encoding="utf-8")) | change
    with pytest.raises(Unreadable):
        keys.parse_stub(value, "it")


def test_a_broken_file_of_keys_does_not_hide_the_others(tmp_path: Path) -> None:
    made = make(tmp_path)
    directory = Path(made.listed.key_path).parent
    (directory / ("B" * 43 + ".json")).write_text("no json", encoding="utf-8")
    (directory / ("B" * 43 + ".pub.json")).write_text("[]", encoding="utf-8")
    (directory / "notes.txt").write_text("x", encoding="utf-8")
    assert [one.kid for one in keys.listed(str(tmp_path))] == [made.listed.kid]
    assert list(keys.stubs_of(str(tmp_path), "alice")) == [made.listed.kid]
