"""``envelope compile|show|clear``: what a running task may do, for a hook that asks before each step."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere, RestanteError, UsageError
from restante.faces.oacp.ends import FAILED, HELD, USAGE, Flags, Verbs, clock, fail, home_of, say, say_json, tell

if TYPE_CHECKING:
    import argparse

    from restante.wiring.enveloping import Envelopes


def envelope(words: list[str]) -> int:
    """Run ``compile``, ``show`` or ``clear``."""
    return Verbs("envelope", {"compile": compile_one, "show": show, "clear": clear}).run(words)


def compile_one(words: list[str]) -> int:
    """Make the envelope of a message; 0 made, 3 none can be made of it, 2 anything else."""
    flags = _flags("compile")
    flags.add_argument("message")
    flags.add_argument("--config", default="")
    flags.add_argument("--audit", default="", help="the admission's record, which is told what is enforced")
    flags.add_argument("--extend", action="store_true", help="go on counting where the envelope that is there is")
    flags.add_argument("--force", action="store_true", help="replace an envelope of another message")
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.enveloping import NotCompiled, Order

    try:
        order = Order(given.message, given.config, given.audit, given.extend, given.force)
        compiled = _envelopes(given, given.message).compile(order)
    except NotCompiled as error:
        tell(f"ERROR (envelope_compile_error): {error.message}")
        return HELD
    except RestanteError as error:
        return fail(error, code=USAGE)
    if compiled.reason:
        tell(f"note: nothing enforces it ({compiled.reason})")
    if given.json:
        say_json(compiled.envelope)
    else:
        say("OK: no envelope, by rule" if compiled.envelope is None else f"OK: {compiled.envelope['message_id']}")
    return 0


def show(words: list[str]) -> int:
    """Print the envelope; 1 where there is none."""
    given = _flags("show").parse_args(words)
    try:
        say_json(_envelopes(given).show())
    except NothingThere as error:
        tell(error.message)
        return FAILED
    return 0


def clear(words: list[str]) -> int:
    """Remove the envelope."""
    given = _flags("clear").parse_args(words)
    found = _envelopes(given)
    say(f"{'Cleared' if found.clear() else 'No active envelope at'} {found.path}")
    return 0


def _flags(word: str) -> Flags:
    flags = Flags(f"envelope {word}")
    flags.add_argument("--receiver", default="claude")
    flags.add_argument("--project", default="")
    flags.home()
    return flags


def _envelopes(given: argparse.Namespace, message: str = "") -> Envelopes:
    from restante.wiring.enveloping import Envelopes
    from restante.wiring.oacp import project_of

    home = home_of(given.oacp_dir)
    project = given.project or project_of(home, os.getcwd(), message)
    if not project:
        raise UsageError("no project is named, and none is marked here", remedy="--project")
    return Envelopes(home, project, given.receiver, clock(), os.environ)
