"""What a person, or the agent that works for one, is asked about one message: everything needed to answer is in it."""

from typing import NamedTuple

SKIP = "skip"
# Decisions that let work start.
APPROVED = ("approved", "modified")


class Choice(NamedTuple):
    """One of the answers.

    Attributes:
        key: What is typed: ``1``, ``2`` and so on.
        name: What it is for programs.
        text: What it is, in words.
        effects: Exactly what is done, in order.
        needs: What else the answer must say: ``reply``, ``note``, ``files``.
    """

    key: str
    name: str
    text: str
    effects: tuple[str, ...]
    needs: tuple[str, ...] = ()


class Inquiry(NamedTuple):
    """A decision about one message.

    Attributes:
        stage: ``admission``, ``work``, ``review``, ``notice`` or ``closing``.
        file: The message's file.
        digest: SHA-256 of the bytes that were read; the answer is about these and no others.
        fields: The message; every text in it is its sender's.
        why: What is asked, in a sentence.
        reasons: Reason codes with what they mean.
        record: The audit record's file; empty where there is none.
        recommended: The key of the choice that is clearly safest; empty where none is.
        choices: The answers, beside leaving it as it is.
        warnings: What to know before answering.
    """

    stage: str
    file: str
    digest: str
    fields: dict[str, object]
    why: str
    choices: tuple[Choice, ...]
    recommended: str = ""
    reasons: tuple[tuple[str, str], ...] = ()
    record: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def allowed(self) -> tuple[str, ...]:
        """The words that answer it."""
        return (*(one.key for one in self.choices), SKIP)

    def choice(self, key: str) -> Choice | None:
        """Return a choice by its key or name."""
        return next((one for one in self.choices if key in (one.key, one.name)), None)


class Word(NamedTuple):
    """An answer.

    Attributes:
        choice: A choice's key or name, or ``skip``.
        reply: The text that is sent.
        note: What was changed, or why not.
        actor: Who answers: one word.
        grant: ``approved`` or ``denied``, where the message asks for a grant for its thread.
        files: How many files the work changed.
        minutes: How long it took; by the clock where nobody says.
        started: When it began, ISO; when it was asked about where nobody says.
        realized: The side effects that happened.
        artifacts: What was made.
    """

    choice: str
    reply: str = ""
    note: str = ""
    actor: str = "human"
    grant: str = ""
    files: int | None = None
    minutes: int | None = None
    started: str = ""
    realized: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()


class Ruling(NamedTuple):
    """What a person decided about work that waits.

    Attributes:
        decision: ``approved``, ``modified`` or ``declined``.
        actor: Who: one word.
        note: What was changed, or why.
        grant: ``approved``, ``modified`` or ``denied``; denied where the message asks for one and nobody says.
        scope: What is granted, where it is not what was asked for.
    """

    decision: str
    actor: str = "human"
    note: str = ""
    grant: str = ""
    scope: object = None


class Step(NamedTuple):
    """Something that is about to happen, or has.

    Attributes:
        kind: ``about``, ``gate``, ``sent``, ``recorded``, ``archived``, ``retained``, ``held`` or ``problem``.
        text: It in words; texts of senders in it are escaped.
        file: The message's file.
        facts: The same for programs.
    """

    kind: str
    text: str
    file: str = ""
    facts: dict[str, object] = {}  # noqa: RUF012 - a tuple's default, which nobody changes


class Closing(NamedTuple):
    """The end of a round.

    Attributes:
        handled: How many of each type were dealt with and archived.
        retained: The files that stay, each with the reason in a word.
    """

    handled: dict[str, int]
    retained: dict[str, str]

    @property
    def processed(self) -> int:
        """How many messages were looked at."""
        return sum(self.handled.values()) + len(self.retained)

    def text(self, project: str) -> str:
        """Return the report of the round."""
        if not self.processed:
            return "Inbox empty - no messages to process."
        handled = ",".join(f"{kind}={count}" for kind, count in sorted(self.handled.items())) or "none"
        why = "/".join(sorted(set(self.retained.values())))
        return (
            f"Processed {self.processed} message(s) from {project} inbox.\n"
            f"Handled: {handled}\n"
            f"Retained: {len(self.retained)}{f' ({why})' if why else ''}"
        )
