"""The same answer through a server: by the command that asks it, and by the HTTP API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.faces.cli.served import served

from restante.system.secrets import session_secret

from .conftest import READER, WRITER

if TYPE_CHECKING:
    from .conftest import Scene


def asked(url: str, message: str, secret: str) -> tuple[int, Any]:
    """Ask the API; return its status and what it answers with."""
    request = Request(f"{url}/api/v1/messages/{message}/why", headers={"Authorization": f"Bearer {secret}"})
    try:
        with urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)["data"]
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_a_server_answers_as_the_command_does_without_one(pair: Scene) -> None:
    pair.end_turn()
    pair.do("join", "parser/reviewer")
    posted = [pair.post("reader"), pair.post("parser/reviewer"), pair.send()]
    alone = [pair.why(one, by=WRITER) for one in posted]
    assert [one["cause"] for one in alone] == ["not-monitored", "role-free", "not-monitored"]
    with served() as url:
        through = [pair.why(one, by=WRITER) for one in posted]
        for one, other in zip(alone, through, strict=True):
            assert [one[key] for key in ("cause", "command", "mailbox", "message_id")] == [
                other[key] for key in ("cause", "command", "mailbox", "message_id")
            ]
        secret = session_secret(str(pair.data), WRITER)
        status, told = asked(url, posted[0], secret)
        assert (status, told["cause"], told["mailbox"]) == (200, "not-monitored", f"session:{READER}")
        assert set(told) == {"messageId", "mailbox", "cause", "sentence", "evidence", "command"}
        assert told["command"] == alone[0]["command"]
        # A part of an id will do; one that nothing has is not there; and what was answered is not for strangers.
        assert asked(url, posted[0][-10:], secret)[1]["messageId"] == posted[0]
        assert asked(url, "msg_20260520T120000_01hzy2v4qd8m8fjq5c9x6k7w1a", secret)[0] == 404
        pair.do("ack", posted[0], by=READER)
        assert asked(url, posted[0], secret)[1]["cause"] == "answered"
        assert asked(url, posted[0], "nobody")[0] == 404
