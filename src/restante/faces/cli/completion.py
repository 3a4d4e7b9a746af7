"""``restante completion``: scripts for bash, zsh and fish, made from the table of commands."""

from __future__ import annotations

from restante.domain.errors import UsageError
from restante.faces.cli.command import SHELLS, Argument, Command
from restante.faces.cli.output import say
from restante.faces.cli.table import COMMANDS


def completion(shell: str, as_json: bool, **_common: object) -> None:
    """Print the script for a shell."""
    if shell not in SHELLS:
        raise UsageError(f"unknown shell {shell!r}", remedy=f"use one of: {', '.join(SHELLS)}")
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()
    if as_json:
        from restante.faces.cli.jsonable import print_json

        print_json({"shell": shell, "script": script})
    else:
        say(script, end="")


def _arguments(command: Command) -> tuple[Argument, ...]:
    return command.all_arguments


def _first_words() -> list[str]:
    return list(dict.fromkeys(command.name.split()[0] for command in COMMANDS))


def _groups() -> dict[str, list[str]]:
    """Return the second words of the commands whose name has two, by the first."""
    groups: dict[str, list[str]] = {}
    for command in COMMANDS:
        first, _, second = command.name.partition(" ")
        if second:
            groups.setdefault(first, []).append(second)
    return groups


def _bash() -> str:
    cases = "".join(
        f'    "{command.name}") words="{" ".join(flag for one in _arguments(command) for flag in one.flags)}'
        f'{"".join(" " + word for one in command.arguments if not one.flags for word in one.words)}" ;;\n'
        for command in COMMANDS
    )
    values = "".join(
        f'    "{"|".join(sorted(one.flags))}") words="{" ".join(one.words)}" ;;\n'.replace('"-', "-").replace('")', ")")
        for one in {
            one.name: one for command in COMMANDS for one in command.arguments if one.flags and one.words
        }.values()
    )
    first = " ".join(_first_words())
    groups = "|".join(_groups())
    seconds = "".join(f'    " {group}") words="{" ".join(words)}" ;;\n' for group, words in _groups().items())
    return (
        "_restante() {\n"
        '  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=""\n'
        "  local at=1\n"
        '  while [ "$at" -lt "$COMP_CWORD" ]; do\n'
        '    case "${COMP_WORDS[at]}" in\n'
        "      -C) at=$((at+2)) ;;\n"
        "      --json) at=$((at+1)) ;;\n"
        "      *) break ;;\n"
        "    esac\n"
        "  done\n"
        "  local name=${COMP_WORDS[at]}\n"
        f'  case "$name" in {groups})\n'
        '    [ "$COMP_CWORD" -eq $((at+1)) ] && before=" $name"\n'
        '    [ "$COMP_CWORD" -gt $((at+1)) ] && name="$name ${COMP_WORDS[at+1]}" ;;\n'
        "  esac\n"
        '  [ "$name" = help ] && at=$((at+1))\n'
        '  [ "$COMP_CWORD" -eq "$at" ] && before=" command"\n'
        '  case "$before" in\n'
        f"{values}"
        f'    " command") words="{first} help version" ;;\n'
        f"{seconds}"
        '    -C) COMPREPLY=($(compgen -d -- "$current")); return ;;\n'
        '    --file) COMPREPLY=($(compgen -f -- "$current")); return ;;\n'
        '    *) case "$name" in\n'
        f"{cases}"
        "    esac ;;\n"
        "  esac\n"
        '  COMPREPLY=($(compgen -W "$words" -- "$current"))\n'
        "}\n"
        "complete -F _restante restante\n"
    )


def _zsh() -> str:
    # zsh reads bash's completions; one script to keep right is better than two.
    return f"autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n{_bash()}"


def _fish() -> str:
    lines = [
        f"complete -c restante -f -n __fish_use_subcommand -a {word} -d {_quoted(_summary(word))}\n"
        for word in _first_words()
    ]
    lines += [
        f"complete -c restante -f -n '__fish_seen_subcommand_from {command.name.split()[0]}' "
        f"-a {command.name.split()[1]} -d {_quoted(command.summary)}\n"
        for command in COMMANDS
        if " " in command.name
    ]
    for command in COMMANDS:
        for one in _arguments(command):
            lines.append(_fish_line(command, one))
    return "".join(lines)


def _fish_line(command: Command, one: Argument) -> str:
    condition = " and ".join(f"__fish_seen_subcommand_from {word}" for word in command.name.split())
    flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in one.flags)
    takes = "-r " if one.metavar and one.flags and one.bare is None else ""
    files = "" if one.name in {"file", "directory"} else "-f "
    words = f"-a {_quoted(' '.join(one.words))} " if one.words else ""
    if not flags and not words:
        return ""
    return f"complete -c restante {files}-n {_quoted(condition)} {flags} {takes}{words}-d {_quoted(one.help)}\n"


def _summary(word: str) -> str:
    return next(command.summary for command in COMMANDS if command.name.split()[0] == word)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
