"""``restante oacp``: the verbs, flags, answers and exit codes of OACP 0.5.4, so that its scripts run unchanged.

A link called ``oacp`` that leads to ``restante`` does the same. ``gate`` and ``read``, scripts there, are verbs here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from restante.faces.oacp.ends import run

if TYPE_CHECKING:
    from collections.abc import Callable

# The contract that is spoken; the spellings of 0.4.3 are understood.
VERSION = "0.5.4"
_VERBS: dict[str, tuple[str, str]] = {
    "init": ("setting_up:init", "Create a project"),
    "agent": ("setting_up:agent", "Add agents to a project, list them"),
    "send": ("sending:send", "Send a message"),
    "inbox": ("listing:inbox", "List what waits"),
    "watch": ("listing:watch", "Tell what arrived since the last look"),
    "read": ("reading:read", "Read one message, verified before it is parsed"),
    "validate": ("checking:validate", "Check a message against the format"),
    "verify": ("checking:verify", "Check a message's signature"),
    "gate": ("gating:gate", "Evaluate a message against a receiver's policy"),
    "trust": ("trusting:trust", "Keys, pins, signed policies"),
    "autonomy": ("records:autonomy", "Record a person's decision, checkpoints, the end of work"),
    "envelope": ("enveloping:envelope", "Compile, show or clear what a running task may do"),
    "doctor": ("doctor:doctor", "Check the tree"),
}
# What the original has, or 0.4.3 had, and why it is not here.
_ABSENT = {
    "setup": "`restante install --skills` puts hooks and the skill check-inbox in place",
    "session-init": "the hooks of `restante install` tell a session of its mail when it starts",
    "retention": "it left the original, too; `restante archive ID --sha256 D` puts a message aside",
    "memory": "it left the original, too; a project's memory/ is plain files",
    "org-memory": "it left the original, too",
    "write-event": "it left the original, too",
}


def main(words: list[str]) -> None:
    """Run a verb and end the process."""
    sys.exit(run(dispatch, words))


def dispatch(words: list[str]) -> int:
    """Run the verb that the words name; return its exit code."""
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    if not words or words[0] in ("-h", "--help"):
        _overview()
        return 0
    if words[0] in ("-V", "--version", "version"):
        from restante import __version__

        print(f"oacp {VERSION} (restante {__version__})")  # noqa: T201
        return 0
    verb, rest = _named(words)
    if verb in _ABSENT:
        sys.stderr.write(f"ERROR: `oacp {verb}` is not there in Restante: {_ABSENT[verb]}.\n")
        return 2
    if verb not in _VERBS:
        sys.stderr.write(f"ERROR: unknown command {words[0]!r}\nRun `oacp --help` for usage.\n")
        return 2
    from importlib import import_module

    module, function = _VERBS[verb][0].split(":")
    act: Callable[[list[str]], int] = getattr(import_module(f"restante.faces.oacp.{module}"), function)
    return act(rest)


def _named(words: list[str]) -> tuple[str, list[str]]:
    """Return the verb and its words, in the spelling of today."""
    first, rest = words[0], words[1:]
    if first == "add-agent":
        return "agent", ["add", *rest]
    if first.startswith("autonomy-"):
        return "autonomy", [first.removeprefix("autonomy-"), *rest]
    if first == "key":
        new = {"gen": "keygen", "list": "keys"}
        return "trust", [new.get(rest[0], rest[0]), *rest[1:]] if rest else ["--help"]
    return first, rest


def _overview() -> None:
    lines = "".join(f"  {name:<10} {words}\n" for name, (_, words) in _VERBS.items())
    sys.stdout.write(f"Usage: oacp <command> [args]\n\nCommands:\n{lines}\n`oacp help <command>` tells more.\n")
