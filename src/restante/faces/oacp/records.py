"""``autonomy outcome`` and ``autonomy finalize``: what becomes of an audit record after its evaluation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.autonomy.outcome import GRANT_DECISIONS
from restante.autonomy.vocabulary import EFFECTS
from restante.domain.errors import RestanteError
from restante.faces.oacp.ends import BREACHED, USAGE, Flags, Verbs, clock, fail, read_yaml_file, say, say_json, tell

if TYPE_CHECKING:
    import argparse

    from restante.autonomy.measuring import Wish


def autonomy(words: list[str]) -> int:
    """Run ``outcome`` or ``finalize``."""
    return Verbs("autonomy", {"outcome": outcome, "finalize": finalize}).run(words)


def outcome(words: list[str]) -> int:
    """Write a person's decision on a pause; 0 written, 2 not."""
    flags = Flags("autonomy outcome", "Record what a person decided about paused work.")
    flags.add_argument("audit_file")
    flags.add_argument("--decision", required=True, choices=("approved", "declined", "modified"))
    flags.add_argument("--grant-decision", choices=GRANT_DECISIONS)
    flags.add_argument("--grant-scope-file")
    flags.add_argument("--modification-file")
    flags.add_argument("--decided-at")
    flags.add_argument("--actor", default="human", help="one word that names the person everywhere")
    flags.add_argument("--replace", action="store_true")
    flags.add_argument("--dry-run", action="store_true")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.records import OneRecord

    scope, change = given.grant_scope_file, given.modification_file
    try:
        done = OneRecord(given.audit_file).decide(
            now=clock().now(),
            dry_run=given.dry_run,
            decision=given.decision,
            actor=given.actor,
            grant_decision=given.grant_decision,
            grant_scope=read_yaml_file(scope, "grant scope") if scope else None,
            modification=read_yaml_file(change, "modification") if change else None,
            decided_at=given.decided_at,
            replace=given.replace,
        )
    except RestanteError as error:
        return fail(error, code=USAGE)
    for warning in done.warnings:
        tell(f"WARNING: {warning}; name the person with --actor")
    result = done.record["result"]
    assert isinstance(result, dict)
    if given.json:
        say_json(
            {
                "audit_file": given.audit_file,
                "dry_run": given.dry_run,
                "schema_version": done.record.get("schema_version"),
                "human_outcome": result.get("human_outcome"),
            }
        )
    else:
        say(f"OK: {given.audit_file}: {given.decision}{'' if done.is_changed else ' (as before)'}")
    return 0


def finalize(words: list[str]) -> int:
    """Write a checkpoint or an end, or look records over; 0 done, 2 not, 4 the work must stop."""
    given = _finalize_flags().parse_args(words)
    try:
        if given.validate:
            return _validated(given)
        from restante.wiring.records import OneRecord

        done = OneRecord(given.audit_file).finalize(
            _wish(given), now=clock().now(), config=given.config, dry_run=given.dry_run
        )
    except RestanteError as error:
        return fail(error, code=USAGE)
    summary = done.summary(given.audit_file, dry_run=given.dry_run)
    if given.json:
        say_json(summary)
    else:
        state = f"{summary['final_state']} ({summary['completion_kind']})"
        say(f"{'BREACHED' if done.is_breached else 'OK'}: {given.audit_file}: {state}")
    return BREACHED if done.is_breached else 0


def _finalize_flags() -> Flags:
    flags = Flags("autonomy finalize", "Record checkpoints and the end of work; or say what is wrong with records.")
    flags.add_argument("audit_file")
    what = flags.add_mutually_exclusive_group(required=True)
    what.add_argument("--final-state", default="", choices=("done", "error", "superseded", "cancelled"))
    what.add_argument("--checkpoint", action="store_true")
    what.add_argument("--validate", action="store_true")
    flags.add_argument("--sweep", action="store_true", help="with --validate: the whole folder of the record")
    flags.add_argument("--actuals", help="measurements, as YAML")
    flags.add_argument("--config", default="", help="the receiver's policy; that of the record if nothing is said")
    for name in ("--actual-minutes", "--actual-files-touched"):
        flags.add_argument(name, type=int)
    flags.add_argument("--realized", action="append", default=[], choices=EFFECTS)
    for name in ("--started-at", "--completed-at", "--reply-message-id", "--model", "--effort", "--cancelled-at"):
        flags.add_argument(name)
    flags.add_argument("--artifact", action="append", default=[], dest="artifacts")
    flags.add_argument("--cancelled-by", default="", choices=("human", "sender"))
    flags.add_argument("--reason", default="")
    flags.add_argument("--deliverable-landed", action="append", default=[])
    flags.add_argument("--predicted-risk-materialized", choices=("true", "false"))
    flags.add_argument("--superseded-by", default="", help="the evaluation that replaces this one")
    flags.add_argument("--superseded-by-message", help="the message that replaces this one's")
    flags.add_argument("--replace", action="store_true")
    flags.add_argument("--dry-run", action="store_true")
    flags.home()
    flags.json()
    return flags


def _wish(given: argparse.Namespace) -> Wish:
    from restante.autonomy.measuring import Wish
    from restante.autonomy.record import runtime_block
    from restante.domain.errors import UsageError
    from restante.wiring.records import OneRecord, replacement

    actuals = read_yaml_file(given.actuals, "actuals") if given.actuals else None
    if actuals is not None and not isinstance(actuals, dict):
        raise UsageError(f"actuals {given.actuals}: no mapping")
    if given.predicted_risk_materialized:
        actuals = {**(actuals or {}), "predicted_risk_materialized": given.predicted_risk_materialized == "true"}
    record = OneRecord(given.audit_file).read()
    receiver, other = str(record.get("receiver") or ""), given.superseded_by_message
    model = given.model or os.environ.get("OACP_RUNTIME_MODEL", "")
    return Wish(
        final_state=given.final_state,
        actuals=actuals,
        actual_minutes=given.actual_minutes,
        actual_files_touched=given.actual_files_touched,
        realized=tuple(given.realized),
        started_at=given.started_at,
        completed_at=given.completed_at,
        reply_message_id=given.reply_message_id,
        artifacts=tuple(given.artifacts),
        runtime=runtime_block(receiver, model, given.effort or os.environ.get("OACP_RUNTIME_EFFORT", "")),
        superseded_by=given.superseded_by,
        superseded_by_message=replacement(given.audit_file, record, other, clock()) if other else None,
        cancelled_by=given.cancelled_by,
        cancelled_at=given.cancelled_at,
        reason=given.reason,
        deliverables_landed=tuple(given.deliverable_landed),
        replace=given.replace,
    )


def _validated(given: argparse.Namespace) -> int:
    from restante.wiring.records import look_over

    found = look_over(given.audit_file, whole=given.sweep)
    if given.json:
        say_json(found.report(swept=given.sweep))
    else:
        count = 0
        for name, findings in sorted(found.records.items()):
            for one in findings:
                say(f"{one.severity}: {name}: {one.code} {one.detail}".rstrip())
                count += one.severity == "error"
        say(f"{count} error finding(s)")
    return USAGE if found.has_errors else 0
