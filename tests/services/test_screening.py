from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.services.screening_cases import ACTIONS, CLEAN, SECRETS, drawn

from restante.domain.finding import Finding
from restante.domain.screening.actions import ACTIONS as ACTION_RULES
from restante.domain.screening.secrets import SECRETS as SECRET_RULES
from restante.domain.screening.text import fold
from restante.services.screening import MOST_FINDINGS, RuleScanner, screen

if TYPE_CHECKING:
    from restante.ports import Scanner

_SCANNER = RuleScanner()
_GITHUB = "ghp_" + drawn(36)


def _codes(text: str) -> list[str]:
    return [one.code for one in _SCANNER.scan(text)]


@pytest.mark.parametrize(("code", "before", "secret", "why"), SECRETS)
def test_a_secret_is_found_on_its_line_and_its_middle_is_never_shown(
    code: str, before: str, secret: str, why: str
) -> None:
    text = f"first line\n{before}{secret}\nlast line"
    findings = _SCANNER.scan(text)
    assert [(one.code, one.line) for one in findings] == [(f"secret.{code}", 2)], why
    if code == "url_password":
        secret = secret.partition("@")[0]
    elif code == "private_key":
        secret = secret.splitlines()[1]
    told = " ".join(one.excerpt for one in (*findings, *screen(text, [_SCANNER, _SCANNER])))
    assert secret not in told
    assert not any(secret[at : at + 8] in told for at in range(len(secret) // 3, len(secret) - 10))
    assert "[redacted]" in findings[0].excerpt or "PRIVATE KEY" in findings[0].excerpt


@pytest.mark.parametrize(("code", "text", "why"), ACTIONS)
def test_a_dangerous_action_is_found(code: str, text: str, why: str) -> None:
    assert code in _codes(text), why
    assert code in _codes(f"Once the tests pass:\n\n    {text}\n"), why


@pytest.mark.parametrize(("text", "why"), CLEAN)
def test_ordinary_guidance_passes(text: str, why: str) -> None:
    assert _codes(text) == [], why


def test_the_table_holds_at_least_sixty_cases_of_each_kind() -> None:
    assert len(SECRETS) + len(ACTIONS) >= 60
    assert len(CLEAN) >= 60
    assert len(set(CLEAN)) == len(CLEAN)


def test_every_rule_that_is_no_token_family_has_a_case() -> None:
    cases = {f"secret.{code}" for code, *_ in SECRETS} | {code for code, *_ in ACTIONS}
    families = {rule.code for rule in SECRET_RULES} - {
        *("secret.private_key", "secret.jwt", "secret.authorization", "secret.url_password", "secret.cookie"),
        *("secret.login", "secret.assignment", "secret.option"),
    }
    assert {rule.code for rule in (*SECRET_RULES, *ACTION_RULES)} - families - cases <= {
        "destructive.database",
        "destructive.lose_file",
    }


def test_findings_come_in_order_of_line_and_say_the_line_of_the_original() -> None:
    text = f"one\r\nrm -rf x\rthree\n\n\u200b\u200bgit push -f\nuse {_GITHUB}"
    assert [(one.line, one.code) for one in _SCANNER.scan(text)] == [
        (2, "destructive.rm"),
        (5, "destructive.git"),
        (6, "secret.github_token"),
    ]


def test_a_secret_is_hidden_in_the_excerpts_of_all_findings_wherever_it_stands() -> None:
    text = f"token: {_GITHUB}; rm -rf x\ncurl -H {_GITHUB[4:-2]} | sh"
    findings = _SCANNER.scan(text)
    assert {one.code for one in findings} == {"secret.github_token", "destructive.rm", "destructive.piped_script"}
    assert all(_GITHUB[8:-8] not in one.excerpt for one in findings)


def test_two_secrets_on_a_line_are_both_hidden() -> None:
    other = "ghp_" + drawn(36, seed=9)
    (finding,) = _SCANNER.scan(f"{_GITHUB} and {other}")
    assert finding.excerpt == f"ghp_[redacted]{_GITHUB[-2:]} and ghp_[redacted]{other[-2:]}"


def test_the_end_of_a_short_secret_is_not_shown() -> None:
    assert _SCANNER.scan("password: hunter2")[0].excerpt == "password: [redacted]"


def test_the_lines_of_a_key_are_hidden_in_other_findings_too() -> None:
    text = f"-----{'BEGIN'} PRIVATE KEY-----\n{drawn(30)} rm -rf x {drawn(20)}\n-----END PRIVATE KEY-----"
    findings = _SCANNER.scan(text)
    assert [one.code for one in findings] == ["secret.private_key", "destructive.rm"]
    assert drawn(30)[5:25] not in repr(findings)


def test_what_could_act_on_a_terminal_is_shown_escaped() -> None:
    (finding,) = _SCANNER.scan("a \x1b[2J\u202erm\u200b -rf x\x07")
    assert finding.excerpt == "a \\x1b[2J\\u202erm\\u200b -rf x\\x07"


def test_a_long_line_is_cut_around_what_was_found() -> None:
    (finding,) = _SCANNER.scan("before " * 100 + "rm -rf build" + " after" * 100)
    assert "rm -rf build" in finding.excerpt
    assert len(finding.excerpt) < 200


def test_a_flood_of_findings_is_cut_short_and_nothing_of_it_is_shown() -> None:
    secrets = ["ghp_" + drawn(36, seed=number) for number in range(MOST_FINDINGS + 50)]
    findings = _SCANNER.scan("\n".join(secrets))
    assert len(findings) == MOST_FINDINGS
    told = repr(findings)
    assert not any(secret[8:-8] in told for secret in secrets)


class _Fixed:
    """A scanner that finds what it was told to."""

    def __init__(self, *findings: Finding) -> None:
        self._findings = list(findings)

    def scan(self, text: str) -> list[Finding]:
        return self._findings


def test_what_one_scanner_found_is_hidden_in_the_excerpts_of_another() -> None:
    text = "rm -rf x; zz-unknown-to-our-rules"
    at = text.index("zz-")
    other = _Fixed(Finding("secret.other", "other", 1, "[redacted]", at, ((at, len(text)),)))
    orders: list[list[Scanner]] = [[_SCANNER, other], [other, _SCANNER]]
    for scanners in orders:
        findings = screen(text, scanners)
        assert [one.code for one in findings] == ["destructive.rm", "secret.other"]
        assert [one.excerpt for one in findings] == ["rm -rf x; [redacted]"] * 2


def test_a_secret_that_two_scanners_find_is_told_once_by_the_first() -> None:
    other = _Fixed(Finding("secret.other", "other", 1, "[redacted]", 0, ((0, len(_GITHUB)),)))
    assert [one.code for one in screen(_GITHUB, [_SCANNER, other])] == ["secret.github_token"]
    assert [one.code for one in screen(_GITHUB, [other, _SCANNER])] == ["secret.other"]


def test_without_scanners_nothing_is_found() -> None:
    assert screen("rm -rf /", []) == []


def test_a_clean_text_compiles_no_pattern() -> None:
    program = (
        "from restante.services.screening import RuleScanner, ACTIONS, SECRETS\n"
        "text = ('Please look at the parser first; it breaks on nested lists.\\n' * 20)[:1024]\n"
        "print(RuleScanner().scan(text), [r.code for r in (*SECRETS, *ACTIONS) if r.is_compiled])\n"
        "print(RuleScanner().scan('rm -v x'), [r.code for r in (*SECRETS, *ACTIONS) if r.is_compiled])\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[] []\n[] ['destructive.rm']\n"


@pytest.mark.parametrize(("code", "before", "secret", "why"), SECRETS)
def test_no_keyword_of_a_secret_is_missing(code: str, before: str, secret: str, why: str) -> None:
    folded = fold(before + secret)
    for rule in SECRET_RULES:
        if not rule.may_match(folded):
            assert not rule.pattern.search(folded.text), (rule.code, why)


@pytest.mark.parametrize("text", [text for _, text, _ in ACTIONS] + [text for text, _ in CLEAN])
def test_no_keyword_of_an_action_is_missing(text: str) -> None:
    folded = fold(text)
    for rule in ACTION_RULES:
        if not rule.may_match(folded):
            assert not any(rule.accepts(match) for match in rule.pattern.finditer(folded.text)), rule.code


_HOSTILE = [
    *("a", "-", " ", "\n", "\u200b", "ｒｍ ", "\x1b[", "\\\n", '"', "{", "'"),
    *("rm ", "rm -", "git ", "git push ", "git -C a push ", "token", "token:", "token: a a a ", "secret ", "key: "),
    *("password is a1 ", "eyJ", "eyJaaaaaaaaaa.", "://", "://a:", "://a:b@", "sk-proj-", "ghp_", "AKIA"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "curl ", "curl -u a:", "curl |", "delete from ", "delete all the "),
    *("deploy a b c ", "rotate the ", "rotate the token ", "reset the admin ", "kubectl -n a ", "dd of ", "find -"),
    *("> /dev/", "cat ~/.ssh/", "chmod -R ", "cookie: a=", "login a password ", "authorization: ", "a(){ a|"),
    *("aws s3 rm ", "remove-item -r -", "mv a ", "SG.", "dp.st.", "deploy --env "),
]


def _seconds(text: str) -> float:
    times = []
    for _ in range(2):
        begin = time.process_time()
        _SCANNER.scan(text)
        times.append(time.process_time() - begin)
    return min(times)


@pytest.mark.parametrize("unit", _HOSTILE)
def test_time_grows_with_the_length_of_hostile_text_and_not_with_its_square(unit: str) -> None:
    tail = " token: rm -rf git push curl | prod key password production shred /dev/ @ ://"
    short, long = ((unit * (size // len(unit) + 1))[:size] + tail for size in (4096, 32_768))
    _SCANNER.scan(short)
    # Eight times the text; a square would take 64 times as long.
    assert _seconds(long) < 30 * max(_seconds(short), 0.002)


@given(st.text(alphabet=st.sampled_from("rm -f\u200bｒ\n\r\t\\é\x1b[0m\u00a0"), max_size=60))
def test_a_place_in_the_folded_text_is_the_place_it_came_from(text: str) -> None:
    folded = fold(text)
    previous = 0
    for place in range(len(folded.text)):
        start, end = folded.origin(place, place + 1)
        assert previous <= start < end <= len(text)
        previous = start
        if folded.text[place].isalnum():
            assert folded.text[place] == fold(text[start:end]).text


@given(st.text(max_size=300))
def test_any_text_is_screened_without_an_error_and_within_its_lines(text: str) -> None:
    for finding in _SCANNER.scan(text):
        assert 1 <= finding.line <= text.count("\n") + text.count("\r") + 1
        assert finding.excerpt.isprintable() or "\t" in finding.excerpt
