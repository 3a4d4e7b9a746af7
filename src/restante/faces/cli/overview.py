"""What the program says of itself: where to begin, every command, and what may follow a first word."""

from __future__ import annotations

from itertools import groupby

from restante.faces.cli.command import AUDIENCES, GROUPS, Command
from restante.faces.cli.table import COMMANDS

_WIDTH = 110
_LAST = """\
restante help COMMAND tells more; restante version the version; restante oacp --help the verbs of OACP.
Exit codes: 0 ok, 1 failed, 2 usage, 3 nothing there, 4 refused, 5 timeout; restante monitor has its own, see its help.
"""


def beginning() -> str:
    """Return what somebody reads who typed nothing but the program's name."""
    return """\
restante: a mailbox for coding agents. Leave guidance; the agent collects it at its next safe checkpoint.

  restante install         teach the agent programs of this worktree to look
  restante send "..."      leave guidance for its agent
  restante status          see what became of it
  restante why ID          why nobody answered, and what helps

  restante ls              all sessions: who is idle, and what mail waits
  restante post NAME "..." write to one of them, or to a role: post TEAM/ROLE "..."
  restante ui              the same in your browser; restante tui in the terminal

restante help lists every command, restante help COMMAND tells more, restante doctor says what is amiss.
"""


def overview() -> str:
    """Return the list of commands, by whom they are for; those that share a first word stand on one line."""
    lists = "".join(f"{audience}:\n{_briefly(audience)}\n" for audience in AUDIENCES)
    return f"restante: a mailbox for coding agents.\n\nusage: restante COMMAND ...\n\n{lists}{_LAST}"


def listed(first_word: str) -> str:
    """Return a line for each command that begins with a word and goes on; nothing where none does."""
    commands = [command for command in COMMANDS if command.name.startswith(first_word + " ")]
    width = max((len(command.name) for command in commands), default=0)
    return "".join(f"  {command.name:<{width}}  {command.summary}\n" for command in commands)


def _briefly(audience: str) -> str:
    def first_word(command: Command) -> str:
        return command.name.split()[0]

    width = max(map(len, map(first_word, COMMANDS)))
    lines = []
    for word, group in groupby((one for one in COMMANDS if one.audience == audience), first_word):
        commands = list(group)
        if word not in GROUPS:
            lines += [f"  {command.name:<{width}}  {command.summary}\n" for command in commands]
            continue
        verbs = ", ".join(command.name.removeprefix(f"{word} ") for command in commands)
        lines.append(_wrapped(f"  {word:<{width}}  {GROUPS[word]} ", verbs, " " * (width + 4)))
    return "".join(lines)


def _wrapped(line: str, words: str, margin: str) -> str:
    lines = []
    for word in words.split():
        if len(line) + len(word) >= _WIDTH:
            lines.append(line.rstrip())
            line = margin
        line += f"{word} "
    return "\n".join([*lines, line.rstrip()]) + "\n"
