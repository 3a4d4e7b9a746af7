"""``restante why``: why was a message not answered, in one sentence, and which command helps next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.text import visible
from restante.faces.cli.output import say

if TYPE_CHECKING:
    from restante.domain.why import Explanation

_NOTHING_THERE = 3
# Causes under which there is no message to tell of.
_UNKNOWN = ("no-such-message", "not-kept", "mailbox-deleted")


def why(message: str, directory: str, as_json: bool) -> int:
    """Say why a message was not answered: one sentence, the evidence, and the one command that helps next."""
    from restante.wiring.tracing import open_tracer

    found = open_tracer(directory).why(message)
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"why": of_explanation(found)})
    else:
        say(f"{visible(found.message_id)}: {visible(found.sentence)}")
        for line in found.evidence:
            say(f"  {visible(line)}")
        if found.command:
            say(f"next: {visible(found.command)}")
    return _NOTHING_THERE if found.cause in _UNKNOWN else 0


def of_explanation(explanation: Explanation) -> dict[str, Any]:
    """Return the answer as JSON."""
    return {
        "message_id": explanation.message_id,
        "mailbox": explanation.mailbox or None,
        "cause": explanation.cause,
        "sentence": explanation.sentence,
        "evidence": list(explanation.evidence),
        "command": explanation.command or None,
    }


def cause_in(message: str, directory: str) -> dict[str, Any] | None:
    """Return the answer for the JSON of another command; ``None`` where what must be looked into cannot be."""
    from restante.domain.errors import RestanteError
    from restante.wiring.tracing import open_tracer

    try:
        return of_explanation(open_tracer(directory).why(message))
    except RestanteError:
        return None
