"""What one receiver believes: modes, the policy's own signature, and for whom a message was written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oacp import make_tree
from tests.trusted import ENFORCE, TrustedHome, letter
from tests.trying import examples

from restante.domain.errors import NothingThere, Unreadable
from restante.stores.oacp.trailer import split_trailer
from restante.system.signing.policy import CONFIG, PINS, enrolled, sign_policy

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> TrustedHome:
    return TrustedHome(tmp_path)


@pytest.mark.parametrize(
    ("config", "mode"),
    [
        (None, "off"),
        ("", "off"),
        ("autonomy: {default_mode: always_pause}\n", "off"),
        ("signing: {}\n", "off"),
        ("signing: {verify_mode: off}\n", "off"),
        ("signing: {verify_mode: 'off'}\n", "off"),
        ("signing: {verify_mode: warn}\n", "warn"),
        ("signing: {verify_mode: enforce}\n", "enforce"),
        ("signing: {verify_mode: ENFORCE}\n", "enforce"),
    ],
)
def test_the_mode_is_what_the_policy_says(home: TrustedHome, config: str | None, mode: str) -> None:
    if config is not None:
        home.configure(config)
    desk = home.desk()
    assert (desk.mode, desk.policy_error) == (mode, None)


@pytest.mark.parametrize(
    "config",
    [
        "signing: {verify_mode: enforced}\n",
        "signing: {Verify-Mode: enforce}\n",
        "signing: {verifymode: enforce}\n",
        "Signing: {verify_mode: enforce}\n",
        "signing: {verify_mode: enforce, verify_mode: off}\n",
        "signing: {verify_mode: enforce}\nautonomy: {default_mode: always_pause}\nsigning: {verify_mode: off}\n",
        "signing: {verify_mode: }\n",
        "signing: {verify_mode: true}\n",
        "signing: {verify_mode: [enforce]}\n",
        "signing: {verify_mode: 0}\n",
        "signing: enforce\n",
        "signing:\n",
        "signing: {sign_messages: 'yes'}\n",
        "signing: {verify_mode: enforce}\nrestante: {strict_audience: maybe}\n",
        "just text\n",
        "- a list\n",
        "][\n",
        'signing: {verify_mode: off}\nauth: "x"  \n',
        "a: &a [1]\nb: *a\n",
    ],
)
def test_11_3_5_a_policy_that_cannot_be_relied_on_holds_mail_and_is_never_taken_for_off(
    home: TrustedHome, config: str
) -> None:
    home.trusting()
    raw = home.signed()
    home.configure(config)
    desk = home.desk()
    assert desk.mode == "enforce"
    assert desk.policy_error
    assert desk.verify(raw).status == "untrusted"


def test_a_policy_behind_a_link_is_not_followed(home: TrustedHome) -> None:
    home.trusting()
    path = home.configure("signing: {verify_mode: off}\n")
    path.rename(home.root / "elsewhere.yaml")
    path.symlink_to(home.root / "elsewhere.yaml")
    assert (home.desk().mode, bool(home.desk().policy_error)) == ("enforce", True)


@pytest.mark.parametrize("damage", [b"active", b"version: 1", b"kty"])
def test_pins_that_cannot_be_relied_on_let_nobody_in_and_say_why(home: TrustedHome, damage: bytes) -> None:
    home.trusting()
    raw = home.signed()
    path = home.agent() / "trust" / "allowed_signers.yaml"
    path.write_bytes(path.read_bytes().replace(damage, b"x"))
    verified = home.desk().verify(raw)
    assert verified.status == "untrusted"
    assert "trust root unusable" in verified.annotation


def test_who_has_no_pins_believes_nobody(home: TrustedHome) -> None:
    home.key()
    home.configure(ENFORCE)
    verified = home.desk().verify(home.signed())
    assert verified.auth["reason"] == "no signature matches a receiver-pinned kid"


@pytest.mark.parametrize(("config", "status"), [(ENFORCE, "invalid"), ("signing: {verify_mode: warn}\n", "verified")])
def test_11_3_1_a_message_counts_only_for_whom_it_was_written(home: TrustedHome, config: str, status: str) -> None:
    home.trusting("carl", config=config)
    raw = home.signed(letter(to="dave"))
    verified = home.desk("carl").verify(raw)
    assert verified.status == status
    assert verified.auth["reason"] == "audience: it is for 'dave', not for 'carl'"
    assert (verified.auth["verified_signer"] is None) == (status == "invalid")


def test_every_addressee_of_one_message_may_believe_it(home: TrustedHome) -> None:
    home.trusting("carl")
    home.trusting("dave")
    raw = home.signed(letter(to="[dave, carl]"))
    assert [home.desk(name).verify(raw).status for name in ("carl", "dave")] == ["verified", "verified"]


def test_a_receiver_can_choose_to_be_as_lenient_as_the_format(home: TrustedHome) -> None:
    home.trusting("carl", config=ENFORCE + "restante: {strict_audience: false}\n")
    verified = home.desk("carl").verify(home.signed(letter(to="dave")))
    assert verified.status == "verified"
    assert "audience" in str(verified.auth["reason"])


def test_11_3_1_a_message_that_was_carried_to_another_project_counts_there_for_nobody(home: TrustedHome) -> None:
    make_tree(home.root, "other", "alice", "dave")
    home.trusting()
    home.trusting(project="other")
    raw = home.signed()
    path = home.deliver(raw)
    assert home.desk().verify(raw, path.name).status == "verified"
    for name in (path.name, "20261001120000_alice_notification_ffff.yaml"):
        (home.agent(project="other") / "inbox" / name).write_bytes(raw)
        verified = home.desk(project="other").verify(raw, name)
        assert verified.status == "invalid"
        assert verified.auth["reason"] == "audience: it was sent in project 'demo', not in 'other'"


def test_a_message_whose_senders_copy_is_nowhere_counts(home: TrustedHome) -> None:
    make_tree(home.root, "other", "alice", "dave")
    home.trusting()
    path = home.agent() / "inbox" / "20261001120000_alice_notification_0001.yaml"
    assert home.desk().verify(home.signed(), path.name).status == "verified"


def test_a_signed_policy_is_believed_and_a_changed_one_is_not(home: TrustedHome) -> None:
    home.trusting()
    made = home.key("dave")
    done = sign_policy(home.place(), home.clock.now(), split_trailer)
    assert [(one.was_signed, one.status) for one in done] == [(False, "verified"), (False, "verified")]
    desk = home.desk()
    assert desk.rules.auth.report() == {
        "status": "verified",
        "signer_agent": "dave",
        "signer_kid": made.listed.kid,
        "reason": None,
    }
    raw = home.signed()
    assert desk.verify(raw).is_verified
    path = home.agent() / "config.yaml"
    good = path.read_bytes()
    path.write_bytes(good.replace(b"enforce", b"warn   "))
    assert "signature failed verification" in (home.desk().policy_error or "")
    path.write_bytes(good)
    assert [one.was_signed for one in sign_policy(home.place(), home.clock.now(), split_trailer)] == [True, True]


@pytest.mark.parametrize("how", ["stripped", "deleted", "other_kind", "other_receiver", "other_agent"])
def test_a_place_that_was_signed_once_takes_nothing_less(home: TrustedHome, how: str) -> None:
    home.trusting()
    home.trusting("carl")
    home.key("dave")
    home.key("carl")
    for name in ("dave", "carl"):
        sign_policy(home.place(name), home.clock.now(), split_trailer)
    path = home.agent() / "config.yaml"
    if how == "stripped":
        path.write_bytes(split_trailer(path.read_bytes()).prefix)
    elif how == "deleted":
        path.unlink()
    elif how == "other_kind":
        path.write_bytes((home.agent() / "trust" / "allowed_signers.yaml").read_bytes())
    elif how == "other_receiver":
        path.write_bytes((home.agent("carl") / "config.yaml").read_bytes())
    else:
        path.write_bytes(home.signed(ENFORCE.encode()))
    desk = home.desk()
    assert (desk.mode, desk.rules.auth.status) == ("enforce", "invalid")
    assert not desk.verify(home.signed()).is_verified


def test_a_policy_that_was_signed_elsewhere_does_not_count_here(home: TrustedHome) -> None:
    make_tree(home.root, "other", "dave")
    home.trusting()
    home.key("dave")
    sign_policy(home.place(), home.clock.now(), split_trailer)
    (home.agent(project="other") / "config.yaml").write_bytes((home.agent() / "config.yaml").read_bytes())
    assert "context mismatch on project (signed 'demo')" in (home.desk(project="other").policy_error or "")


@pytest.mark.parametrize("text", ["x", "[]", '{"version": 2, "enrolled": {}}', '{"version": 1}', "[" * 100_000])
def test_a_register_that_cannot_be_read_lets_nothing_pass_for_unsigned(home: TrustedHome, text: str) -> None:
    home.trusting()
    (home.root / "keys" / "policy_enrollment.json").write_text(text, encoding="utf-8")
    with pytest.raises(Unreadable):
        enrolled(home.path)
    assert home.desk().policy_error


def test_signing_policies_enrols_what_is_there(home: TrustedHome) -> None:
    home.key("dave")
    with pytest.raises(NothingThere, match="nothing to sign"):
        sign_policy(home.place(), home.clock.now(), split_trailer)
    home.configure(ENFORCE)
    sign_policy(home.place(), home.clock.now(), split_trailer)
    assert set(enrolled(home.path)) == {f"demo/dave/{CONFIG}"}
    home.trusting()
    sign_policy(home.place(), home.clock.now(), split_trailer)
    assert set(enrolled(home.path)) == {f"demo/dave/{CONFIG}", f"demo/dave/{PINS}"}


def test_a_message_is_signed_by_all_keys_and_one_that_is_believed_is_enough(home: TrustedHome) -> None:
    old = home.trusting()
    home.key()
    verified = home.desk().verify(home.signed())
    assert verified.status == "verified"
    assert verified.auth["kid"] == old.listed.kid
    checked = verified.auth["signatures_checked"]
    assert isinstance(checked, list)
    assert sorted(one["outcome"] for one in checked) == ["unknown_kid", "verified"]


def test_who_signs_for_another_is_told_apart(home: TrustedHome) -> None:
    home.trusting()
    verified = home.desk().verify(home.signed(letter(**{"from": "bob"})))
    assert verified.status == "invalid"
    assert verified.auth["reason"] == "signer identity mismatch: verified alice, message claims 'bob'"
    assert verified.auth["claimed_sender"] == "bob"


def test_a_signed_text_that_is_no_message_proves_nobody(home: TrustedHome) -> None:
    home.trusting()
    for raw in (b"][\n", b"- a\n", b"from: [alice]\n", b"\xff\n", b"&a [*a]\n", b"x: " + b"[" * 60_000 + b"\n"):
        assert home.desk().verify(home.signed(raw)).status == "invalid"


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrustedHome, bytes]:
    home = TrustedHome(tmp_path_factory.mktemp("proven"))
    home.trusting()
    return home, home.signed()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(300))
@given(data=st.data())
def test_no_changed_byte_is_ever_proven(proven: tuple[TrustedHome, bytes], data: st.DataObject) -> None:
    home, raw = proven
    place = data.draw(st.integers(0, len(raw) - 1))
    changed = data.draw(st.integers(0, 255).filter(lambda value: value != raw[place]))
    other = raw[:place] + bytes([changed]) + raw[place + 1 :]
    assert home.desk().verify(other).status in ("invalid", "unsigned", "untrusted")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(200))
@given(cut=st.integers(0, 5000), more=st.binary(max_size=40), data=st.data())
def test_nothing_cut_added_or_moved_is_ever_proven(
    proven: tuple[TrustedHome, bytes], cut: int, more: bytes, data: st.DataObject
) -> None:
    home, raw = proven
    place = data.draw(st.integers(0, len(raw)))
    for other in (
        raw[:place] + more + raw[place:],
        raw[: cut % len(raw)],
        raw[cut % len(raw) :],
        more + raw,
        raw + more,
    ):
        if other != raw:
            assert not home.desk().verify(other).is_verified


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode(errors="surrogatepass")))
def test_no_bytes_at_all_break_the_look_at_a_signature(proven: tuple[TrustedHome, bytes], junk: bytes) -> None:
    home, raw = proven
    tail = raw[raw.rindex(b"auth: ") :]
    for other in (junk, junk + b"\n" + tail, b'auth: "' + junk + b'"\n'):
        assert not home.desk().verify(other).is_verified


def test_more_than_a_mebibyte_is_never_proven(home: TrustedHome) -> None:
    home.trusting()
    verified = home.desk().verify(home.signed(b"a: " + b"x" * 1_048_576 + b"\n"))
    assert (verified.status, verified.auth["payload_sha256"]) == ("invalid", None)
    assert verified.auth["reason"] == "message exceeds size bound"


WITHOUT = """
import sys
class No:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "cryptography":
            raise ImportError(name)
sys.meta_path.insert(0, No())
"""


def run(code: str, *argv: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_the_library_nothing_is_proven_and_it_is_said(home: TrustedHome) -> None:
    home.trusting()
    path = home.deliver(home.signed())
    code = (
        WITHOUT + "import json\nfrom restante.wiring.trusting import verifier_of\n"
        "v = verifier_of(sys.argv[1], 'demo', 'dave').verify(open(sys.argv[2], 'rb').read())\n"
        "print(json.dumps([v.status, v.annotation]))"
    )
    status, annotation = json.loads(run(code, home.path, os.fspath(path)))
    assert status == "unsupported"
    assert annotation.startswith("[oacp-auth] signed-unverifiable (crypto unavailable)")


def test_the_library_is_loaded_only_where_a_signature_is_looked_at(home: TrustedHome) -> None:
    home.trusting()
    code = (
        "import sys\nfrom restante.wiring.trusting import verifier_of, audits_of, inbox_of, trust_of\n"
        "desk = verifier_of(sys.argv[1], 'demo', 'dave')\ntrust_of(sys.argv[1], 'demo').listed()\n"
        "audits_of(sys.argv[1], 'demo', 'dave').waiting()\n"
        "assert desk.verify(b'from: alice\\n').status == 'unsigned'\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'cryptography'])"
    )
    assert run(code, home.path).strip() == "[]"
