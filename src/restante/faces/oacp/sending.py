"""``send``: one message to one or several agents of a project."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from restante.autonomy.vocabulary import MESSAGE_TYPES
from restante.domain.errors import RestanteError, UsageError
from restante.faces.oacp.ends import FAILED, USAGE, Flags, clock, fail, home_of, say, say_json, tell

if TYPE_CHECKING:
    import argparse

    from restante.wiring.mailing import Letter, Mail, Report

_MOST = 1_048_577


def send(words: list[str]) -> int:
    """Send a message; 0 sent, 1 the format or a key says no, 2 the call cannot work."""
    given = _flags().parse_args(words)
    from restante.wiring.mailing import Mail

    try:
        mail = Mail(home_of(given.oacp_dir), given.project, clock())
        letter = _letter(given, mail)
        report = mail.send(letter, sign=given.sign, dry_run=given.dry_run)
    except UsageError as error:
        return fail(error, as_json=given.json, code=USAGE)
    except RestanteError as error:
        return fail(error, as_json=given.json, code=FAILED)
    for warning in report.warnings:
        tell(f"WARNING: {warning}")
    if given.json:
        say_json(_as_json(report, dry_run=given.dry_run))
    elif given.dry_run:
        sys.stdout.write(report.raw.decode())
    elif not given.quiet:
        say(f"OK: {report.fields['id']}")
        for path in report.inboxes:
            say(f"  inbox:  {path}")
        if report.outbox:
            say(f"  outbox: {report.outbox}")
    return 0


def _flags() -> Flags:
    flags = Flags("send", "Send a message.")
    flags.add_argument("project")
    flags.add_argument("--from", dest="sender", default="")
    flags.add_argument("--to", required=True, help="an agent, or several with commas between them")
    flags.add_argument("--type", required=True, choices=MESSAGE_TYPES)
    flags.add_argument("--subject", required=True)
    flags.add_argument("--body")
    flags.add_argument("--body-file", help="a file, or - for standard input")
    flags.add_argument("--priority", default="P2", choices=("P0", "P1", "P2", "P3"))
    for name in ("related-pr", "related-packet", "conversation-id", "parent-message-id"):
        flags.add_argument(f"--{name}", default="")
    flags.add_argument(
        "--in-reply-to", default="", help="the message that is answered; its conversation is gone on with"
    )
    flags.add_argument("--context-keys", default="")
    flags.add_argument("--context-keys-file")
    flags.add_argument("--expires", default="", help="30m, 12h or 7d")
    flags.add_argument("--channel", default="")
    flags.add_argument("--autonomy-hint", default="")
    flags.add_argument("--sign", action="store_true")
    flags.add_argument("--suffix", default="", help="what the file's name ends with")
    flags.add_argument("--dry-run", action="store_true", help="print the message, write nothing")
    flags.add_argument("--quiet", action="store_true")
    flags.home()
    flags.json()
    return flags


def _letter(given: argparse.Namespace, mail: Mail) -> Letter:
    from restante.wiring.mailing import Letter, parse_expiry

    to = tuple(one.strip() for one in given.to.split(",") if one.strip())
    if not to:
        raise UsageError(f"--to {given.to!r} names nobody")
    keys = _file(given.context_keys_file, "context keys") if given.context_keys_file else given.context_keys
    return Letter(
        sender=given.sender or mail.sender(os.environ),
        to=to,
        type=given.type,
        subject=given.subject,
        body=_body(given),
        priority=given.priority,
        expires=parse_expiry(given.expires, clock().now()) if given.expires else None,
        channel=given.channel,
        autonomy_hint=given.autonomy_hint,
        related_packet=given.related_packet,
        related_pr=given.related_pr,
        conversation=given.conversation_id,
        parent=given.in_reply_to or given.parent_message_id,
        inherits=bool(given.in_reply_to),
        context_keys=keys.rstrip("\n"),
        suffix=given.suffix,
    )


def _body(given: argparse.Namespace) -> str:
    if given.body_file == "-" or (given.body_file is None and given.body is None and not sys.stdin.isatty()):
        return _decoded(sys.stdin.buffer.read(_MOST), "standard input")
    if given.body_file is not None:
        return _file(given.body_file, "body")
    if given.body is None:
        raise UsageError("there is no body", remedy="--body, --body-file, or standard input")
    text: str = given.body
    return text


def _file(path: str, what: str) -> str:
    try:
        with open(path, "rb") as stream:
            return _decoded(stream.read(_MOST), path)
    except OSError as error:
        raise UsageError(f"{what} {path}: {error.strerror}") from None


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{source}: byte {error.start} is no UTF-8") from None


def _as_json(report: Report, *, dry_run: bool) -> dict[str, object]:
    fields = report.fields
    shown: dict[str, object] = {"message_id": fields["id"]}
    shown |= {name: fields[name] for name in ("from", "to", "type", "priority", "subject", "created_at_utc")}
    shown["dry_run"] = dry_run
    if report.kids:
        shown |= {"signed": True, "kids": list(report.kids)}
    if report.warnings:
        shown["warnings"] = list(report.warnings)
    if dry_run:
        return {**shown, "yaml": report.raw.decode()}
    if isinstance(fields["to"], str):
        shown["inbox_path"] = report.inboxes[0]
    else:
        shown["inbox_paths"] = list(report.inboxes)
    return {**shown, "outbox_path": report.outbox or None}
