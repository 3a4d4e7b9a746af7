"""Gate 3, word by word: what is found, what takes the edge off it, what does not."""

from __future__ import annotations

import pytest
from tests.autonomy.fixtures import HARMLESS

from restante.autonomy.demotion import Declared
from restante.autonomy.hard_stops import scan_text

TRUSTED = Declared(HARMLESS, is_complete=True, is_sound=True)
DOUBTED = Declared(HARMLESS)
EXTERNAL = Declared({**HARMLESS, "external_side_effects": True}, is_complete=True, is_sound=True)


def bases(text: str, declared: Declared = DOUBTED) -> dict[str, str]:
    return {hit.label: hit.basis for hit in scan_text(text, declared).hits}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("rm -rf x", "rm -rf"),
        ("RM   -RF x", "rm -rf"),
        ("sudo --force", "--force"),
        ("(--no-verify)", "--no-verify"),
        ("--dangerously-skip-permissions", "--dangerously-skip-permissions"),
        ("pushing  to main", "push to main"),
        ("Pushes to main", "push to main"),
        ("rotating credential", "rotate credentials"),
        ("Install the new dependency", "install dependency"),
        ("installing these new dependencies", "install dependency"),
        ("a public repository", "public repo"),
        ("public\nrepositories", "public repo"),
        ("the memory single source", "memory SSOT"),
        ("pricing", "pricing"),
        ("Commercial", "commercial"),
        ("all  files", "all files"),
        ("a secret", "secrets"),
        ("credential", "credentials"),
        ("agent configuration", "config"),
        ("config settings", "config"),
        ("config.yml", "config"),
    ],
)
def test_a_word_that_nothing_takes_the_edge_off_is_hard(text: str, label: str) -> None:
    scan = scan_text(text, DOUBTED)
    assert scan.blocker is not None
    assert scan.blocker.label == label
    assert scan.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "farm -rf",
        "rm -rfv",
        "--force-with-lease",
        "x--force",
        "packets/deploy/",
        "re-deploy",
        "deployed and published and merged",
        "merge-commit",
        "author",
        "oauth/auth-server",
        "push to mainline",
        "rotate the credentialed",
        "install it. The dependency is old",
        "install one\n\ndependency list",
        "republic repo",
        "public repos",
        "install the\ndependency",
        "configuration",
        "all the files",
    ],
)
def test_what_only_looks_like_a_word_is_not_found(text: str) -> None:
    assert scan_text(text, DOUBTED).hits == ()


@pytest.mark.parametrize(
    "text",
    [
        "Do not deploy",
        "never ever deploy",
        "don't deploy",
        "don’t deploy",
        "without a deploy",
        "Out of scope: deploy",
        "Refrain from any deploy",
        "Out of scope:\n- one\n- deploy",
        "## Not now\ndeploy",
        "Forbidden:\n\tdeploy",
    ],
)
def test_a_negated_word_is_a_note(text: str) -> None:
    scan = scan_text(text, EXTERNAL)
    assert scan.blocker is None
    assert scan.notes == (("lexical_advisory_negated", "deploy"),)


@pytest.mark.parametrize(
    "text",
    [
        "Do not wait. deploy",
        "Do not wait; deploy",
        "Do not wait — deploy",
        "Do not wait\ndeploy",
        "no-cache deploy",
        "--no-cache deploy",
        "deploy, do not wait",
        "Do not " + "wait and " * 30 + "deploy",
        "Out of scope:\n- one\n\n- deploy",
        "Out of scope:\n# Now\n- deploy",
        "Skip:\n- deploy",
        "Without:\n- deploy",
        "Not this line\n- deploy",
    ],
)
def test_a_negation_elsewhere_takes_the_edge_off_nothing(text: str) -> None:
    scan = scan_text(text, EXTERNAL)
    assert scan.blocker is not None
    assert scan.blocker.label == "deploy"


@pytest.mark.parametrize(
    "text",
    [
        "Do not install the dependency",
        "never: install a dependency",
        "Do not run package install of any dependency",
        "Out of scope: install dependency",
        "Don't install a dependency",
    ],
)
def test_an_install_is_taken_back_by_a_negation_right_before_it(text: str) -> None:
    assert bases(text) == {"install dependency": "negated"}


@pytest.mark.parametrize(
    "text",
    [
        "Do not hesitate to install the dependency",
        "Do not forget: no, install the dependency",
        "Do not ask, install the dependency",
        "Do not install it, install the dependency",
        "Do not install no dependency",
        "x" * 500 + " do not install the dependency and " + "y " * 300 + " install the dependency",
    ],
)
def test_a_negation_that_does_not_govern_the_install_leaves_it_hard(text: str) -> None:
    assert "non_demotable" in {hit.basis for hit in scan_text(text, DOUBTED).hits}


@pytest.mark.parametrize(
    "before",
    [
        "Do not touch the",
        "never edit",
        "Avoid modifying the",
        "do not publish to the",
        "do not publish the docs to the",
        "Without publishing documentation to",
        "no",
        "Exclude any",
        "Out of scope: anything on the",
        "Out of scope: the",
        "do not use",
        "do not change",
    ],
)
def test_a_public_repository_is_taken_back_by_a_negation_that_is_about_it(before: str) -> None:
    assert bases(f"{before} public repo")["public repo"] == "negated"


@pytest.mark.parametrize(
    "before",
    [
        "Do not hesitate to touch the",
        "Do not ask, edit the",
        "Do not edit the public repo, touch the",
        "no one minds, so edit the",
        "do not not touch the",
        "do not deploy to the",
        "Work on the",
    ],
)
def test_a_negation_about_something_else_leaves_a_public_repository_hard(before: str) -> None:
    assert "non_demotable" in {hit.basis for hit in scan_text(f"{before} public repo", TRUSTED).hits}


def test_mentions_are_no_instructions() -> None:
    assert bases("Choose a merge method") == {"merge": "reference_only"}
    assert bases("Say which merge commit strategy") == {"merge": "reference_only"}
    assert bases("merge the method") == {"merge": "affirmative"}
    assert bases("Explain what a pip install pulls in as a dependency") == {"install dependency": "reference_only"}
    assert bases("A package install may read as a new dependency") == {"install dependency": "reference_only"}
    assert bases("What now? install a dependency") == {"install dependency": "non_demotable"}


@pytest.mark.parametrize("text", ["deploy", "publish", "merge"])
def test_a_believed_declaration_decides_about_verbs(text: str) -> None:
    assert bases(text) == {text: "affirmative"}
    assert bases(text, TRUSTED) == {text: "profile_false"}
    assert bases(text, EXTERNAL) == {text: "affirmative"}
    assert bases(text, EXTERNAL._replace(external="allow")) == {text: "policy_allowed"}
    merges = Declared({**HARMLESS, "external_side_effects": True, "merges_pr": True}, is_complete=True, is_sound=True)
    assert bases(text, merges) == {text: "profile_true" if text == "merge" else "affirmative"}
    assert bases(text, Declared(needs_none=True)) == {text: "profileless_type"}
    assert bases(text, Declared()) == {text: "profileless_risk"}


def test_a_believed_declaration_decides_about_what_is_sensitive() -> None:
    assert bases("auth", TRUSTED) == {"auth": "profile_false"}
    says = Declared({**HARMLESS, "touches_auth_config_or_secrets": True}, is_complete=True, is_sound=True)
    assert bases("rotate credentials", says) == {"rotate credentials": "profile_true", "credentials": "profile_true"}
    assert bases("rotate credentials", TRUSTED)["rotate credentials"] == "non_demotable"
    needs = Declared({**HARMLESS, "touches_dependencies": True}, is_complete=True, is_sound=True)
    assert bases("install the dependency", needs) == {"install dependency": "profile_true"}
    assert bases("push to main", says) == {"push to main": "non_demotable"}


@pytest.mark.parametrize(
    ("flags", "basis"),
    [
        ({"sends_oacp_reply_only": True}, "reply_only_advisory"),
        ({}, "non_demotable"),
        ({"sends_oacp_reply_only": True, "external_side_effects": True}, "non_demotable"),
        ({"sends_oacp_reply_only": True, "commits_changes": True}, "non_demotable"),
    ],
)
def test_only_a_reply_may_speak_of_prices(flags: dict[str, bool], basis: str) -> None:
    assert bases("pricing", Declared({**HARMLESS, **flags}, is_complete=True, is_sound=True)) == {"pricing": basis}


def test_a_guardrails_section_takes_the_edge_off_words_and_not_off_commands() -> None:
    text = "```oacp-guardrails\nNo deploy, no auth, all files.\nrm -rf x; pricing\n```\ndeploy\n"
    found = [(hit.label, hit.basis) for hit in scan_text(text, EXTERNAL).hits]
    assert found == [
        ("rm -rf", "non_demotable"),
        ("deploy", "guardrails_fence"),
        ("deploy", "affirmative"),
        ("auth", "guardrails_fence"),
        ("pricing", "non_demotable"),
        ("all files", "guardrails_fence"),
    ]
    assert scan_text(text, EXTERNAL).notes == (
        ("guardrails_section_skipped", "oacp-guardrails"),
        ("lexical_advisory_guardrails", "deploy"),
        ("lexical_advisory_guardrails", "auth"),
        ("lexical_advisory_guardrails", "all files"),
    )


def test_each_note_is_logged_once_and_those_after_the_reason_are_not() -> None:
    assert scan_text("auth deploy auth deploy", TRUSTED).notes == (
        ("lexical_advisory_declared", "deploy"),
        ("lexical_advisory_declared", "auth"),
    )
    assert scan_text("auth rm -rf deploy", TRUSTED).notes == ()
    assert (
        scan_text("pricing rm -rf", Declared({**HARMLESS, "sends_oacp_reply_only": True}, is_complete=True)).notes == ()
    )
    replies = Declared({**HARMLESS, "sends_oacp_reply_only": True}, is_complete=True, is_sound=True)
    assert scan_text("pricing rm -rf", replies).notes == (("lexical_advisory_reply_only", "pricing"),)
    free = Declared(needs_none=True)
    assert scan_text("no deploy, rm -rf", free).notes == (("side_effect_verb_demoted_for_profileless_type", "deploy"),)


def test_a_profile_that_contradicts_itself_is_believed_in_what_it_denies() -> None:
    doubtful = Declared({**HARMLESS, "touches_dependencies": True}, is_complete=True)
    assert bases("install the dependency, deploy, auth", doubtful) == {
        "install dependency": "non_demotable",
        "deploy": "profile_false",
        "auth": "profile_false",
    }


def test_a_guardrails_section_that_is_never_closed_is_none() -> None:
    assert bases("```oacp-guardrails\ndeploy\n", EXTERNAL) == {"deploy": "affirmative"}
    assert bases("``` oacp-guardrails\ndeploy\n```\n", EXTERNAL) == {"deploy": "affirmative"}


@pytest.mark.parametrize("text", ["a pull request", "a PR", "on GitHub", "committed", "deploy it", "push to main"])
def test_risk_without_a_profile_is_seen(text: str) -> None:
    assert scan_text(text, Declared()).is_risky_without_profile
    assert not scan_text("a pr, a Pull Request, a committee", Declared()).is_risky_without_profile
