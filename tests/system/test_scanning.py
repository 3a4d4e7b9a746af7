from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.services.screening_cases import CLEAN, drawn

from restante.domain.errors import BadConfig
from restante.services.screening import RuleScanner, screen
from restante.system.scanning import KingfisherScanner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LINEAR = "lin_api_" + drawn(40)
_GITHUB = "ghp_" + drawn(36)


@dataclass(frozen=True)
class _Found:
    rule_id: str
    location: Mapping[str, int]
    visible: bool = True


class _Library:
    """Finds given words, as the library reports them: by offsets in bytes."""

    def __init__(self, *words: str, visible: bool = True) -> None:
        self._words = words
        self._visible = visible

    def scan(self, data: bytes) -> Sequence[_Found]:
        found = []
        for word in map(str.encode, self._words):
            at = data.index(word)
            found.append(
                _Found("source.some-token", {"start_offset": at, "end_offset": at + len(word)}, visible=self._visible)
            )
        return found


def test_a_finding_of_the_library_becomes_ours_with_its_place_in_characters() -> None:
    scanner = KingfisherScanner(lambda: _Library("zq-one-two"))
    (finding,) = scanner.scan("äöü\r\nß zq-one-two ü")
    assert (finding.code, finding.line, finding.at) == ("secret.some_token", 2, 7)
    assert finding.excerpt == "ß [redacted] ü"
    assert finding.hidden == ((7, 17),)


def test_findings_of_the_library_hide_each_other_and_come_in_order() -> None:
    scanner = KingfisherScanner(lambda: _Library("second-secret", "first-secret"))
    findings = scanner.scan("first-secret second-secret first-secret")
    assert [one.at for one in findings] == [0, 13]
    assert {one.excerpt for one in findings} == {"[redacted] [redacted] [redacted]"}


def test_what_the_library_itself_keeps_back_is_not_told() -> None:
    assert KingfisherScanner(lambda: _Library("part", visible=False)).scan("a part") == []


def test_the_library_is_loaded_at_the_first_scan_and_kept() -> None:
    loaded = []

    def load() -> _Library:
        loaded.append(1)
        return _Library("x")

    scanner = KingfisherScanner(load)
    assert loaded == []
    scanner.scan("x")
    scanner.scan("x")
    assert loaded == [1]


def test_importing_the_adapter_does_not_import_the_library() -> None:
    program = "import sys, restante.system.scanning as s; s.KingfisherScanner(); print('kingfisher_sdk' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_missing_library_is_named_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    with pytest.raises(BadConfig, match=r"restante\[scan\]"):
        KingfisherScanner().scan("x")


@pytest.fixture(scope="module")
def library() -> KingfisherScanner:
    pytest.importorskip("kingfisher_sdk")
    return KingfisherScanner()


@pytest.mark.slow
def test_the_real_library_finds_a_token_and_shows_nothing_of_it(library: KingfisherScanner) -> None:
    (finding,) = library.scan(f"é one\n\nuse {_LINEAR} there")
    assert finding.line == 3
    assert finding.code.startswith("secret.")
    assert finding.excerpt == "use [redacted] there"
    assert _LINEAR[10:-10] not in repr(finding)


@pytest.mark.slow
def test_the_real_library_beside_our_rules_tells_each_secret_once(library: KingfisherScanner) -> None:
    findings = screen(f"{_GITHUB}; rm -rf x", [RuleScanner(), library])
    assert [one.code for one in findings] == ["secret.github_token", "destructive.rm"]
    assert all(_GITHUB[8:-8] not in repr(one) for one in findings)


@pytest.mark.slow
def test_the_real_library_lets_ordinary_guidance_pass(library: KingfisherScanner) -> None:
    assert {text: [one.code for one in library.scan(text)] for text, _ in CLEAN if library.scan(text)} == {}
