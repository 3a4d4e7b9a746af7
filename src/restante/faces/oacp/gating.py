"""``gate``: one message against a receiver's policy. The original has it as ``autonomy_gate.py``."""

from __future__ import annotations

import os
import sys

from restante.domain.errors import RestanteError, UsageError
from restante.faces.oacp.ends import HELD, USAGE, Flags, clock, fail, home_of, read_yaml_file, say_json, tell


def gate(words: list[str]) -> int:
    """Print the decision as JSON; 0 evaluated, 2 error, 3 held by intake."""
    flags = Flags("gate", "Evaluate a message against a receiver's policy. Without --audit-dir no record is written.")
    flags.add_argument("--config", required=True, help="the receiver's config.yaml")
    flags.add_argument("--message", required=True, help="the message")
    flags.add_argument("--actuals", help="measurements of work under way, for a checkpoint")
    flags.add_argument("--audit-dir", default="", help="where the audit record is written, and earlier ones are found")
    flags.add_argument("--receiver", default="codex")
    flags.add_argument("--now", help="evaluate as of this time, ISO 8601")
    flags.home()
    given = flags.parse_args(words)
    try:
        return _evaluated(
            given.config,
            given.message,
            given.receiver,
            home_of(given.oacp_dir),
            given.audit_dir,
            given.actuals,
            given.now,
        )
    except RestanteError as error:
        return fail(error, code=USAGE)


def _evaluated(
    config: str, message: str, receiver: str, home: str, audits: str, actuals: str | None, now: str | None
) -> int:
    from restante.autonomy.record import printed
    from restante.wiring.intake import GateFiles, open_gate
    from restante.wiring.oacp import fixed_clock

    measured = read_yaml_file(actuals, "actuals") if actuals else None
    time = fixed_clock(now) if now else clock()
    intake = open_gate(GateFiles(config, message, receiver, home, audits), time, os.environ)
    taken = intake.read(message, dispose=True)
    if taken.verified is not None:
        tell(taken.verified.annotation)
    if taken.is_held:
        auth = taken.verified.auth if taken.verified else None
        say_json(
            {
                "decision": "intake_rejected",
                "verify_mode": taken.mode,
                "receiver": receiver,
                "message_path": message,
                "message_auth": auth,
                "quarantine_copy": taken.quarantine,
                "policy_error": taken.policy_error,
            }
        )
        return HELD
    if taken.fields is None:
        raise UsageError(f"message {message}: {taken.error}")
    gated = intake.gate(taken, actuals=measured)
    say_json(printed(gated.record))
    sys.stdout.flush()
    tell(gated.annotation)
    if not audits:
        tell("note: no --audit-dir was given, so this evaluation is on no record")
    return 0
