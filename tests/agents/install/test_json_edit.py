"""Hooks in somebody's JSON settings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from restante.agents.hookline import TIMEOUTS, handler, is_ours
from restante.agents.json_edit import hooks_in, put_hooks, take_out_hooks
from restante.domain.errors import Unreadable

WANTED = {event: handler("/opt/in stall/bin", "claude", event) for event in TIMEOUTS}
NEWER = {event: handler("/else/where/bin", "claude", event) for event in TIMEOUTS}
THEIRS = {"type": "command", "command": "make lint", "timeout": 5}
GROUP = json.dumps({"matcher": "Bash", "hooks": [THEIRS]})


def put(data: bytes | None, wanted: dict[str, dict[str, Any]] = WANTED) -> bytes:
    return put_hooks(data, wanted, "settings.json")


def take_out(data: bytes) -> bytes | None:
    return take_out_hooks(data, "settings.json")


def check_round_trip(data: bytes) -> None:
    once = put(data)
    assert put(once) == once
    assert put(put(once)) == once
    before, after = json.loads(data.decode("utf-8-sig")), json.loads(once.decode("utf-8-sig"))
    for event, entry in WANTED.items():
        theirs = before.get("hooks", {}).get(event, [])
        assert after["hooks"][event] == [*theirs, {"hooks": [entry]}]
    assert take_out(once) == data
    # An upgrade moves nothing, and what it leaves behind is taken out just the same.
    assert take_out(put(put(once, NEWER), WANTED)) == data
    assert put(put(once, NEWER), WANTED) == once


TEXTS = {
    "empty object": "{}",
    "blank object": "{ }",
    "object over two lines": "{\n}\n",
    "object over two lines, indented": "{\n  }",
    "other keys": '{\n  "a": 1\n}\n',
    "minified": '{"a":1}',
    "spaced on one line": '{ "a": 1, "b": [ ] }\n',
    "empty hooks": '{"hooks":{}}',
    "empty hooks over lines": '{\n  "hooks": {\n  }\n}\n',
    "empty event": '{"hooks":{"Stop":[]}}',
    "empty event over lines": '{\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n',
    "event with a group": '{"hooks": {"Stop": [' + GROUP + "]}}",
    "events over lines": '{\n  "hooks": {\n    "Stop": [\n      ' + GROUP + "\n    ]\n  }\n}\n",
    "group on the bracket's line": '{\n  "hooks": {\n    "Stop": [ ' + GROUP + " ]\n  }\n}\n",
    "foreign event": '{"hooks":{"PreToolUse":[' + GROUP + "]}}\n",
    "tabs": '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t' + GROUP + "\n\t\t]\n\t}\n}\n",
    "crlf": '{\r\n  "a": 1,\r\n  "hooks": {\r\n  }\r\n}\r\n',
    "bom": '\ufeff{\n  "a": 1\n}\n',
    "bom and nothing": "\ufeff{}",
    "number spellings": '{"a": 1e3, "b": -0.0, "c": 1E+05, "d": 123456789012345678901234567890}',
    "escapes": '{"a": "\\u0041\\/\\ud83d\\ude00 é", "\\u0068ooks": {}}',
    "lone surrogate": '{"a": "\\ud800"}',
    "no indentation": '{\n"a": 1,\n"hooks": {\n"Stop": [\n]\n}\n}',
    "empty lines": '{\n\n\n  "a": 1\n\n\n}\n\n\n',
    "comma first": '{ "a": 1\n, "hooks": {}\n}\n',
    "lone carriage returns": '{\r"a": 1\r}\r',
    "groups of other shapes": '{"hooks": {"Stop": [1, {"hooks": 3}, {}, {"hooks": []}, [[]]]}}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_installing_again_changes_nothing_and_uninstalling_restores_every_byte(text: str) -> None:
    check_round_trip(text.encode())


SPACE = st.text(" \t\n\r", max_size=5) | st.sampled_from(
    ["", " ", "\n", "\n  ", "\n    ", "\r\n  ", "\n\t", "\n      "]
)
SCALAR = st.sampled_from(["1", "-0", "1e3", "2.50", "true", "null", '""', '"a\\u0062"', '"{[,:]}"', '"\\""'])


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.sampled_from(["scalar", "object", "array"] if depth else ["scalar"]))
    if kind == "scalar":
        return draw(SCALAR)
    inner = draw(st.lists(values(depth - 1), max_size=3))
    if kind == "array":
        return container(draw, "[]", inner)
    return container(draw, "{}", [f'"k{n}"{draw(SPACE)}:{draw(SPACE)}{one}' for n, one in enumerate(inner)])


def container(draw: st.DrawFn, brackets: str, elements: list[str]) -> str:
    spaced = [f"{draw(SPACE)}{element}{draw(SPACE)}" for element in elements]
    return brackets[0] + (",".join(spaced) if spaced else draw(SPACE)) + brackets[1]


@st.composite
def settings_files(draw: st.DrawFn) -> str:
    """A settings file in whatever layout, with hooks of others in it or not."""

    def member(key: str, value: str) -> str:
        return f'"{key}"{draw(SPACE)}:{draw(SPACE)}{value}'

    def group() -> str:
        if draw(st.booleans()):
            return draw(values())
        entries = container(draw, "[]", draw(st.lists(st.just(json.dumps(THEIRS)) | values(), max_size=2)))
        return container(draw, "{}", [member("matcher", '"x"'), member("hooks", entries)])

    names = draw(st.lists(st.sampled_from([*TIMEOUTS, "PreToolUse", "Other"]), unique=True, max_size=4))
    events = [member(name, container(draw, "[]", [group() for _ in range(draw(st.integers(0, 2)))])) for name in names]
    members = [member(f"m{n}", one) for n, one in enumerate(draw(st.lists(values(), max_size=2)))]
    if draw(st.booleans()):
        members.insert(draw(st.integers(0, len(members))), member("hooks", container(draw, "{}", events)))
    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    return bom + draw(SPACE) + container(draw, "{}", members) + draw(SPACE)


@given(settings_files())
@example("{\n}\n")
@example('{\n  "hooks": {\n  }\n}\n')
@example('{ "hooks": { "Stop": [ \n ] } }')
@example('{\n\r"hooks":{"SessionStart":[{},{}],"UserPromptSubmit":[],"PostToolUse":[],\n"Stop":[]}}')
def test_any_settings_file_comes_back_byte_for_byte(text: str) -> None:
    check_round_trip(text.encode())


def test_a_file_that_is_nothing_but_ours_goes() -> None:
    created = put(None)
    assert json.loads(created) == {"hooks": {event: [{"hooks": [entry]}] for event, entry in WANTED.items()}}
    assert put(created) == created
    assert take_out(created) is None
    assert take_out(created.replace(b"\n", b"\r\n")) is None


def test_what_a_person_added_to_a_file_of_ours_stays() -> None:
    document = json.loads(put(None))
    document["permissions"] = {}
    document["hooks"]["Stop"].append({"hooks": [THEIRS]})
    left = take_out(json.dumps(document, indent=2).encode())
    assert left is not None
    assert json.loads(left) == {"hooks": {"Stop": [{"hooks": [THEIRS]}]}, "permissions": {}}


def test_a_hook_keeps_its_place_when_another_was_put_behind_it() -> None:
    document = json.loads(put(b"{}"))
    document["hooks"]["Stop"].append({"hooks": [THEIRS]})
    data = json.dumps(document).encode()
    assert put(data) == data


def test_ours_comes_behind_the_persons_own_groups() -> None:
    placed = [
        one
        for one in hooks_in(put(('{"hooks":{"Stop":[' + GROUP + "," + GROUP + "]}}").encode()), "f")
        if one.event == "Stop"
    ]
    assert [is_ours(one.entry) for one in placed] == [False, False, True]
    assert (placed[2].group, placed[2].place, placed[2].settings) == (2, 0, {})


def test_an_older_hook_is_replaced_where_it_stands_and_a_second_one_goes() -> None:
    old = handler("/old/bin", "claude", "Stop")
    data = json.dumps(
        {"hooks": {"Stop": [{"hooks": [old]}, {"hooks": [THEIRS]}, {"matcher": "x", "hooks": [old]}]}}
    ).encode()
    after = json.loads(put(data))
    assert after["hooks"]["Stop"] == [{"hooks": [WANTED["Stop"]]}, {"hooks": [THEIRS]}]


def test_a_hook_of_ours_for_an_event_that_is_no_longer_wanted_goes() -> None:
    data = put(b"{}", {**WANTED, "PreToolUse": handler("/opt/in stall/bin", "claude", "Stop")})
    assert put(data) == put(b"{}")


def test_a_matcher_that_was_put_on_our_hook_is_taken_off() -> None:
    data = json.dumps({"hooks": {"Stop": [{"matcher": "startup", "hooks": [WANTED["Stop"]]}]}}).encode()
    assert json.loads(put(data))["hooks"]["Stop"] == [{"hooks": [WANTED["Stop"]]}]


def test_a_hook_that_was_moved_into_the_persons_own_group_is_current_there_and_leaves_the_rest() -> None:
    shared = {"matcher": "x", "hooks": [WANTED["Stop"], THEIRS]}
    data = json.dumps({"hooks": {"Stop": [shared]}}).encode()
    after = json.loads(put(data))
    assert after["hooks"]["Stop"] == [shared]
    assert put(put(data)) == put(data)
    left = take_out(put(data))
    assert left is not None
    assert json.loads(left)["hooks"]["Stop"] == [{"matcher": "x", "hooks": [THEIRS]}]


def test_two_of_ours_in_one_group_become_one() -> None:
    data = json.dumps({"hooks": {"Stop": [{"hooks": [WANTED["Stop"], WANTED["Stop"]]}]}}).encode()
    assert json.loads(put(data))["hooks"]["Stop"] == [{"hooks": [WANTED["Stop"]]}]
    assert json.loads(take_out(data) or b"{}") == {}


def test_a_large_file_keeps_all_it_holds() -> None:
    document = {f"key {n}": {"list": [1, 2], "text": "é" * 400} for n in range(400)}
    data = json.dumps(document, indent=1).encode()
    assert len(data) > 300_000
    check_round_trip(data)


FAULTS = {
    "nothing": ("", 1),
    "blank": (" \n", 2),
    "array": ("[]", 1),
    "text": ('"x"', 1),
    "comment": ('{\n  // mine\n  "a": 1\n}', 2),
    "block comment": ('{"a": 1 /* mine */}', 1),
    "hash comment": ("{\n# mine\n}", 2),
    "trailing comma in an object": ('{\n "a": 1,\n}', 2),
    "trailing comma in an array": ('{"a": [1,\n\n]}', 1),
    "double key": ('{"a": 1,\n "a": 2}', 2),
    "double key by escape": ('{"hooks": {},\n "\\u0068ooks": {}}', 2),
    "double key deep inside": ('{"a": [{"b": 1,\n"b": 2}]}', 2),
    "hooks is a list": ('{\n"hooks": []}', 2),
    "hooks is null": ('{\n"hooks": null}', 2),
    "event is an object": ('{"hooks": {\n"Stop": {}}}', 2),
    "foreign event is text": ('{"hooks": {\n"Other": ""}}', 2),
    "cut": ('{"a": {\n', 2),
    "cut string": ('{"a": "x\n', 1),
    "raw control character": ('{"a": "\x01"}', 1),
    "zero byte": ('{"a": "\x00"}', 1),
    "bad escape": ('{"a": "\\x"}', 1),
    "single quotes": ("{'a': 1}", 1),
    "leading zero": ('{"a": 01}', 1),
    "plus sign": ('{"a": +1}', 1),
    "not a number": ('{"a": NaN}', 1),
    "word": ('{"a": nulls}', 1),
    "two values": ("{}\n{}", 2),
    "missing comma": ('{"a": 1\n"b": 2}', 2),
    "missing colon": ('{"a" 1}', 1),
    "missing value": ('{"a": }', 1),
    "wrong bracket": ('{"a": [1}', 1),
    "no-break space": ("{\u00a0}", 1),
    "arabic digit": ('{"a": ١}', 1),
    "too deep": ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", 1),
}


@pytest.mark.parametrize(("text", "line"), FAULTS.values(), ids=FAULTS.keys())
def test_what_is_odd_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Unreadable, match=rf"^settings\.json:{line}: "):
        put(text.encode())
    with pytest.raises(Unreadable, match=rf"^settings\.json:{line}: "):
        take_out(text.encode())


@pytest.mark.parametrize("data", [b'{"a":\n"\xe9"}', '{"a":\n"x"}'.encode("utf-16")])
def test_other_encodings_are_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"^settings\.json:[12]: .*UTF"):
        put(data)


def test_keys_that_make_the_program_reject_the_file_are_refused_where_that_is_so() -> None:
    data = b'{\n  "description": "x",\n  "$schema": "y"\n}'
    with pytest.raises(Unreadable, match=r"^hooks\.json:3: .*\$schema"):
        put_hooks(data, WANTED, "hooks.json", only={"hooks", "description"})
    assert b"$schema" in put(data)


@given(settings_files() | st.text(max_size=30) | st.text('{}[],:"\\ \n01e.-truefalsn/*', max_size=30))
def test_it_takes_what_is_json_and_nothing_else(text: str) -> None:
    try:
        json.loads(text.removeprefix("\ufeff"), parse_constant=lambda _: 1 / 0)
        is_json = True
    except (ValueError, ZeroDivisionError):
        is_json = False
    try:
        put(text.encode())
        taken = True
    except (Unreadable, UnicodeEncodeError):
        taken = False
    assert is_json or not taken
