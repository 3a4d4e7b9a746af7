"""``validate`` and ``verify``: what is wrong with a message's form, and what its signature proves."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere, RestanteError
from restante.faces.oacp.ends import FAILED, HELD, USAGE, Flags, clock, fail, home_of, say, say_json, tell

if TYPE_CHECKING:
    from restante.wiring.checking import Checker


def validate(words: list[str]) -> int:
    """Print what is wrong with a message's form; 0 nothing, 1 something."""
    flags = Flags("validate", "Check a message against the format.")
    flags.add_argument("message_file")
    flags.add_argument("--quiet", action="store_true", help="say nothing where nothing is wrong")
    given = flags.parse_args(words)
    from restante.wiring.checking import errors_of

    try:
        errors = errors_of(given.message_file)
    except RestanteError as error:
        return fail(error, code=FAILED)
    for one in errors:
        tell(f"ERROR: {one}")
    if not errors and not given.quiet:
        say(f"OK: {given.message_file}")
    return FAILED if errors else 0


def verify(words: list[str]) -> int:
    """Print what a signature proves; 0 unsigned or verified, 3 anything else, 2 not looked at."""
    flags = Flags("verify", "Check a message's signature against what a receiver believes. Rejects nothing by itself.")
    flags.add_argument("message_file", nargs="?")
    flags.add_argument("--batch", action="store_true", help="paths on standard input, one JSON verdict a line")
    flags.add_argument("--pins", default="", help="an allowed_signers.yaml")
    flags.add_argument("--project", default="")
    flags.add_argument("--receiver", default="")
    flags.add_argument("--quarantine", action="store_true", help="keep evidence of what is INVALID in dead_letter/")
    flags.add_argument("--attach-audit", default="", help="write the verdict into this audit record")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    if given.batch == bool(given.message_file):
        flags.error("give a message file, or --batch with paths on standard input")
    if bool(given.project) != bool(given.receiver):
        flags.error("--project and --receiver go together")
    from restante.wiring.checking import Checker

    try:
        checker = Checker(home_of(given.oacp_dir), given.project, given.receiver, given.pins, clock())
        if given.batch:
            return _batch(checker)
        raw = checker.read(given.message_file)
        verified = checker.verify(raw, given.message_file)
        auth = dict(verified.auth)
        if given.quarantine and verified.status == "invalid":
            auth["quarantine_copy"] = checker.quarantine(given.message_file, raw)
        if given.attach_audit:
            checker.attach(given.attach_audit, auth, raw)
    except NothingThere as error:
        return fail(NothingThere(error.message), code=USAGE)
    except RestanteError as error:
        return fail(error, code=USAGE)
    if given.json:
        say_json(auth)
    else:
        say(verified.annotation)
    return 0 if verified.status in ("unsigned", "verified") else HELD


def _batch(checker: Checker) -> int:
    for line in sys.stdin.buffer:
        path = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
        if not path:
            continue
        try:
            auth: dict[str, object] = dict(checker.verify(checker.read(path), path).auth)
        except RestanteError as error:
            auth = {**checker.unread(error.message), "read_error": True}
        sys.stdout.write(json.dumps({**auth, "path": path}, separators=(",", ":")) + "\n")
        sys.stdout.flush()
    return 0
