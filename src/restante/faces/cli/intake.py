"""``read`` and ``check-inbox``; and ``archive`` of one message: verified mail of an OACP tree."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NoReturn

from restante.domain.errors import RestanteError, UsageError
from restante.domain.inquiry import SKIP, Word
from restante.domain.text import fenced, one_line, visible
from restante.faces.cli.output import json_line, paint, say, tell
from restante.faces.cli.receivers import agent_of, home_of, intake_of, project_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.domain.inquiry import Inquiry, Step
    from restante.domain.intake import Intake as Taken

    Ask = Callable[[Inquiry], Word | None]

# What was watching in the original skill, and is something else here.
_LEGACY = ("watch", "interval", "max_empty_polls", "max_runtime_min")
# Types whose recommended answer may be given once for all: they ask for no work of ours.
YES_TO = ("notification", "follow_up", "review_lgtm", "handoff_complete")
_SHOWN = ("id", "from", "to", "type", "priority", "created_at_utc", "expires_at", "conversation_id", "related_pr")
_ANSWERS = frozenset(Word._fields)
_MOST_TOLD = 4_000


def read(
    message: str,
    verified: bool,
    project: str | None,
    agent: str | None,
    snapshot_out: str | None,
    directory: str,
    as_json: bool,
) -> int:
    """Show one message that waits, verified before it is parsed; 0 accepted, 2 not read, 3 held, 4 malformed."""
    del verified  # There is no other way; the flag lets a script say that it relies on it.
    from restante.wiring.oacp import find_file

    try:
        intake = intake_of(project, agent, directory)
        name = find_file(home_of(directory), project_of(project, directory), agent_of(agent), message)
        taken = intake.read(name, snapshot=snapshot_out or "", dispose=True)
    except RestanteError as error:
        # 3 says that a message is held, and nothing else does.
        raise UsageError(error.message, remedy=error.remedy) from None
    if as_json:
        say(json_line(taken.report(), sort_keys=True))
    else:
        _show(taken)
    return taken.exit_code


def _show(taken: Taken) -> None:
    if taken.verified is not None:
        tell(visible(taken.verified.annotation))
    if taken.is_held:
        tell(f"held: {visible(taken.policy_error or 'nothing of it is shown')}; evidence: {taken.quarantine}")
    elif taken.fields is None:
        tell(paint("error: ", "red", sys.stderr) + visible(taken.error or "it could not be read"))
    else:
        say(_message_text(taken.fields))
        say(f"sha256 {taken.digest}")
        for one in taken.errors:
            tell(f"malformed: {visible(one)}")


def _message_text(fields: dict[str, object]) -> str:
    lines = [f"{name}: {one_line(_plain(fields[name]), 300)}" for name in _SHOWN if fields.get(name)]
    subject = one_line(_plain(fields.get("subject")), 300)
    return "\n".join([*lines, f"subject: {subject}", fenced(visible(_plain(fields.get("body"))))])


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def archive(
    message: str | None, sha256: str | None, project: str | None, agent: str | None, directory: str, as_json: bool
) -> int:
    """Move answered messages of the worktree aside; with a message and --sha256, that one of an OACP inbox."""
    if message is None and sha256 is None:
        from restante.faces.cli.follow import archive as of_worktree

        if project or agent:
            raise UsageError("--project and --agent are for one message", remedy="archive ID --sha256 DIGEST")
        of_worktree(directory, as_json)
        return 0
    if message is None or sha256 is None:
        raise UsageError("a message and the digest of what was processed go together", remedy="archive ID --sha256 D")
    from restante.wiring.oacp import find_file

    intake = intake_of(project, agent, directory)
    name = find_file(home_of(directory), project_of(project, directory), agent_of(agent), message)
    done = intake.archive(name.rsplit("/", 1)[-1], sha256)
    if as_json:
        path, reason = (done.text, None) if done.is_archived else (None, done.text)
        say(json_line({"archived": done.is_archived, "path": path, "reason": reason}))
    else:
        say(f"{'ARCHIVED' if done.is_archived else 'RETAINED'}: {visible(done.text)}")
    return 0 if done.is_archived else 4


def check_inbox(
    project: str | None,
    agent: str | None,
    once: bool,
    yes_to: str | None,
    actor: str | None,
    directory: str,
    as_json: bool,
    **legacy: object,
) -> int:
    """Work off the inbox of an agent: everything is verified, gated, asked about and only then done."""
    del once  # A round is all there is.
    given = [name for name in _LEGACY if legacy.get(name)]
    if given:
        raise UsageError(
            f"--{given[0].replace('_', '-')} is not supported: this is one round",
            remedy="a heartbeat of your agent program that runs it once a wake; else /loop 2m /check-inbox",
        )
    chosen = _kinds(yes_to)
    place = project_of(project, directory)
    intake = intake_of(place, agent, directory)
    who = actor or "human"
    refused: list[str] = []
    if as_json:
        ask = _by_json(who, refused)
    elif _is_there():
        ask = _at_terminal(who)
    else:
        ask = _by_nobody
    closing = intake.drain(_saying_yes(chosen, ask, who), _teller(as_json))
    if as_json:
        _event(
            {"event": "report", "project": place, "text": closing.text(place), "processed": closing.processed}
            | {"handled": closing.handled, "retained": closing.retained}
        )
    else:
        say(visible(closing.text(place)))
    return UsageError.exit_code if refused else 0


def oacp(words: tuple[str, ...], directory: str, as_json: bool) -> NoReturn:
    """Refuse: the verbs of OACP have flags of their own, so that nothing of ours may stand before them."""
    del directory, as_json
    raise UsageError("nothing stands before oacp", remedy=f"restante oacp {' '.join(words)}")


def _kinds(text: str | None) -> tuple[str, ...]:
    kinds = tuple(one.strip() for one in (text or "").split(",") if one.strip())
    for kind in kinds:
        if kind not in YES_TO:
            raise UsageError(
                f"--yes-to {kind!r}: work and reviews need an answer each", remedy=f"some of: {', '.join(YES_TO)}"
            )
    return kinds


def _saying_yes(kinds: tuple[str, ...], ask: Ask, actor: str) -> Ask:
    """Return what gives the recommended answer for some types and asks about the others."""

    def answer(asked: Inquiry) -> Word | None:
        if asked.stage == "notice" and asked.recommended and asked.fields.get("type") in kinds and not asked.warnings:
            return Word(asked.recommended, actor=actor)
        return ask(asked)

    return answer


def _is_there() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _by_nobody(asked: Inquiry) -> Word | None:
    """Show what would be asked; the message stays."""
    say(_inquiry_text(asked))
    return None


def _at_terminal(actor: str) -> Ask:
    def ask(asked: Inquiry) -> Word | None:
        say(_inquiry_text(asked))
        sys.stderr.write(f"{'/'.join(asked.allowed)}? ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return None
        chosen = asked.choice(line.strip())
        if chosen is None:
            return Word(line.strip() or SKIP)
        said = {need: _prompted(need) for need in chosen.needs}
        files = said.get("files", "")
        count = int(files) if files.isdecimal() else None
        return Word(chosen.key, said.get("reply", ""), said.get("note", ""), actor, files=count)

    return ask


def _prompted(what: str) -> str:
    labels = {"reply": "your answer", "note": "what you change", "files": "how many files were changed"}
    sys.stderr.write(f"{labels[what]}: ")
    sys.stderr.flush()
    return sys.stdin.readline().rstrip("\n")


def _by_json(actor: str, refused: list[str]) -> Ask:
    """Ask by a line on standard output, and take the answer from a line on standard input.

    Args:
        actor: Who answers where the answer does not say.
        refused: Takes the files that were answered otherwise than an answer must be.
    """

    def ask(asked: Inquiry) -> Word | None:
        _event(_inquiry_json(asked))
        line = sys.stdin.readline()
        if not line.strip():
            return None
        try:
            return _word(_parsed(line), asked, actor)
        except UsageError:
            # The message stays, and the round goes on: the other answers are about other bytes.
            refused.append(asked.file)
            raise

    return ask


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(
            "an answer is no JSON object on one line", remedy='{"choice": "skip", "sha256": "..."}'
        ) from None


def _word(answer: object, asked: Inquiry, actor: str) -> Word:
    """Return an answer, which must be about the bytes that were asked about."""
    if not isinstance(answer, dict) or not isinstance(answer.get("choice"), str):
        raise UsageError("an answer needs a choice", remedy=f"one of: {', '.join(asked.allowed)}")
    if "sha256" not in answer:
        raise UsageError(f"the answer about {asked.file} lacks sha256", remedy="repeat the sha256 of the inquiry")
    if answer["sha256"] != asked.digest:
        raise UsageError(f"the answer is about other bytes than {asked.file}", remedy="answer what was asked last")
    unknown = set(answer) - _ANSWERS - {"sha256"}
    if unknown:
        raise UsageError(f"an answer has no {min(unknown)!r}", remedy=f"some of: {', '.join(Word._fields)}")
    said = {name: value for name, value in answer.items() if name in _ANSWERS}
    for name in ("realized", "artifacts"):
        value = said.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise UsageError(f"{name} must be a list of texts")
        said[name] = tuple(value)
    for name in ("files", "minutes"):
        value = said.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise UsageError(f"{name} must be a number from 0")
    for name in ("choice", "reply", "note", "actor", "grant", "started"):
        if not isinstance(said.get(name, ""), str):
            raise UsageError(f"{name} must be text")
    return Word(**{"actor": actor, **said})


def _inquiry_json(asked: Inquiry) -> dict[str, object]:
    return {
        "event": "inquiry",
        "stage": asked.stage,
        "file": asked.file,
        "sha256": asked.digest,
        # Every text in it is its sender's: data, never an instruction.
        "message": asked.fields,
        "why": asked.why,
        "warnings": list(asked.warnings),
        "reasons": [{"code": code, "meaning": meaning} for code, meaning in asked.reasons],
        "audit": asked.record or None,
        "recommended": asked.recommended or None,
        "choices": [
            {"key": one.key, "name": one.name, "text": one.text, "effects": list(one.effects), "needs": list(one.needs)}
            for one in asked.choices
        ],
        "allowed": list(asked.allowed),
        "text": _inquiry_text(asked),
    }


def _inquiry_text(asked: Inquiry) -> str:
    """Return an inquiry such that whoever reads nothing else can answer it."""
    lines = ["", f"== {one_line(asked.file, 255)}: {asked.why}", _message_text(asked.fields), f"sha256 {asked.digest}"]
    lines += [f"reason: {meaning} ({code})" for code, meaning in asked.reasons]
    lines += [f"note: {one}" for one in asked.warnings]
    if asked.recommended:
        lines.append(f"Recommended: {asked.recommended}")
    for one in asked.choices:
        needs = f" (say: {', '.join(one.needs)})" if one.needs else ""
        lines.append(f"{one.key}. {one.text}{needs}. It will: {'; '.join(one.effects)}.")
    lines.append(f"{SKIP}. leave it in the inbox. Nothing is sent, nothing is archived.")
    lines.append(f"Allowed replies: {', '.join(asked.allowed)}")
    return "\n".join(lines)


def _teller(as_json: bool) -> Callable[[Step], None]:
    def hear(step: Step) -> None:
        # Names of files and errors of parsers are parts of it; none of them may open a line.
        text = one_line(step.text, _MOST_TOLD)
        if as_json:
            _event({"event": step.kind, "file": step.file, "text": text, "facts": step.facts})
        else:
            say(f"{step.kind}: {text}")

    return hear


def _event(value: dict[str, object]) -> None:
    sys.stdout.write(json_line(value) + "\n")
    sys.stdout.flush()
