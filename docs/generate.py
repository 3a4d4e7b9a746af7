"""Makes docs/reference/*.md and docs/why/lifecycle.md from the code (``make docs``); ``--check`` only compares."""

from __future__ import annotations

import json
import os
import sys

from restante.config import OPTIONS
from restante.domain import errors
from restante.domain.lifecycle import ACKNOWLEDGED, PENDING, STEPS
from restante.domain.why import RULES
from restante.faces.cli.command import COMMON, Argument
from restante.faces.cli.overview import overview
from restante.faces.cli.parsing import usage_of
from restante.faces.cli.schemas import ERROR, SCHEMAS
from restante.faces.cli.table import COMMANDS
from restante.faces.http import openapi

HERE = os.path.dirname(os.path.abspath(__file__))
NOTE = "<!-- Made by `make docs`; change the code instead. -->\n\n"


def cli_reference() -> str:
    """Return every command with what it takes."""
    parts = [NOTE, "# Command line\n\n```text\n", overview(), "```\n\nEvery command also takes:\n\n", _table(COMMON)]
    for command in COMMANDS:
        parts.append(f"\n## restante {command.name}\n\n{command.summary} {command.details}".rstrip() + "\n\n")
        parts.append(f"```text\n{usage_of(command)}\n```\n")
        if command.arguments:
            parts.append("\n" + _table(command.arguments))
    return "".join(parts)


def _table(arguments: tuple[Argument, ...]) -> str:
    rows = []
    for one in arguments:
        name = (
            ", ".join(f"`{flag}{f' {one.metavar}' if one.metavar else ''}`" for flag in one.flags) or f"`{one.metavar}`"
        )
        words = f" One of: {', '.join(one.words)}." if one.words else ""
        default = f" Default: {one.default}." if one.flags and one.default not in {None, "", "."} else ""
        rows.append(f"| {name} | {one.help}{words}{default} |\n".replace("TEXT|-", "TEXT\\|-"))
    return "| argument | what it is |\n|---|---|\n" + "".join(rows)


def json_reference() -> str:
    """Return the schema of every JSON answer."""
    parts = [
        NOTE,
        "# JSON answers\n\nEvery command with `--json` prints one document on one line (`watch`: one for each event). "
        "Fields are\nonly ever added. An error is printed on standard error, in the form at the end.\n",
    ]
    for name, schema in SCHEMAS.items():
        parts.append(f"\n## restante {name} --json\n\n```json\n{json.dumps(schema, indent=1)}\n```\n")
    parts.append(f"\n## Errors\n\n```json\n{json.dumps(ERROR, indent=1)}\n```\n")
    return "".join(parts)


def config_reference() -> str:
    """Return the table of options and of other environment variables."""
    rows = "".join(
        f"| `{one.name}` | `{one.environment}` | {str(one.default).lower()} | {one.help} |\n" for one in OPTIONS
    )
    others = (
        ("RESTANTE_CONFIG", "the configuration file, instead of `~/.config/restante/config.toml`"),
        ("RESTANTE_DATA", "the directory of the database of sessions and roles"),
        ("RESTANTE_CODEX", "the Codex program that `threads` asks"),
        ("RESTANTE_NAME", "the name under which the session of an agent program that is started with it registers"),
        ("RESTANTE_NESTED", "`1`: an agent run inside another agent's tool, in the same worktree, collects mail too"),
        ("RESTANTE_NOW", "a fixed time, for tests"),
        ("RESTANTE_DEBUG", "`1`: a checkpoint that fails says why instead of staying silent"),
    )
    return (
        f"{NOTE}# Configuration\n\nA TOML file at `$XDG_CONFIG_HOME/restante/config.toml` "
        "(else `~/.config/restante/config.toml`); an\n"
        "environment variable comes before it. All faults are reported at once.\n\n"
        f"| option | environment | default | what it does |\n|---|---|---|---|\n{rows}\n"
        "| variable | what it does |\n|---|---|\n" + "".join(f"| `{name}` | {text} |\n" for name, text in others)
    )


def errors_reference() -> str:
    """Return the table of errors."""
    found = sorted(
        (one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.RestanteError)),
        key=lambda one: (one.exit_code, one.code),
    )
    rows = "".join(
        f"| `{one.code}` | {one.exit_code} | {one.http_status} | {(one.__doc__ or '').splitlines()[0]} |\n"
        for one in found
    )
    return f"{NOTE}# Errors\n\n| code | exit code | HTTP | meaning |\n|---|---|---|---|\n{rows}"


def http_reference() -> str:
    """Return every route of the server with its shapes."""
    return NOTE + openapi.reference()


def causes() -> str:
    """Return the table of causes for which a message is not answered."""
    places = {
        "details": "restante status ID",
        "there": " -C WORKTREE",
        **{name: name.upper() for name in ("id", "session", "address", "project", "agent", "program")},
    }
    rows = "".join(f"| `{rule.cause}` | {rule.means} | `{rule.command.format_map(places)}` |\n" for rule in RULES)
    return (
        f"{NOTE}# Why did nobody answer?\n\n`restante why ID` says it in one sentence, with what it was concluded from "
        "and the one command that helps next.\nIt knows every mailbox: a worktree's, a session's, a role's, an OACP "
        "agent's. It marks nothing and tells no word of the message.\nThe same stands under `why` in "
        "`restante status ID --json`, and at `GET /api/v1/messages/{id}/why`.\n\n"
        "An answer is what is known at that moment. The causes are asked for in this order, the first that holds is "
        "told:\n\n| cause | what it means | what helps next |\n|---|---|---|\n"
        f"{rows.replace('| `` |', '| nothing is to be done |')}\n"
        "Whoever posted a message may ask, its addressee, and the person whose machine it is. Of mail that is somebody "
        "else's only what\nstill waits is told of, as by `restante inbox --session`. The words of an answer are told "
        "where the sender may read them: in a worktree's mailbox.\n"
    )


def lifecycle_diagram() -> str:
    """Return the picture of the lifecycle, drawn from the table."""

    def name(state: str | None) -> str:
        return "acknowledged" if state is None or state in ACKNOWLEDGED else state

    arrows = sorted(
        {(name(before), name(after), event.value) for (before, event), after in STEPS.items()},
        key=lambda arrow: (arrow[0] != "unseen", *arrow),
    )
    lines = "".join(f"    {before} --> {after}: {event}\n" for before, after, event in arrows)
    words = ", ".join(sorted(ACKNOWLEDGED))
    pending = " and ".join(sorted(PENDING, reverse=True))
    return (
        f"{NOTE}# What can become of a message\n\n*Pending* is {pending}. "
        f"*acknowledged* stands for the receipt's own word: {words}.\n"
        "What the picture does not show is refused and changes nothing.\n\n"
        f"```mermaid\nstateDiagram-v2\n    [*] --> unseen: post\n{lines}```\n"
    )


PAGES = {
    "reference/cli.md": cli_reference,
    "reference/json.md": json_reference,
    "reference/config.md": config_reference,
    "reference/errors.md": errors_reference,
    "reference/http.md": http_reference,
    "why/lifecycle.md": lifecycle_diagram,
    "howto/why.md": causes,
}


def main() -> int:
    """Write the pages, or with ``--check`` name those that are not current."""
    stale: list[str] = []
    for name, make in PAGES.items():
        path = os.path.join(HERE, name)
        text = make()
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            stale.append(name)
            if "--check" not in sys.argv:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
    if stale:
        print(("out of date, run make docs: " if "--check" in sys.argv else "written: ") + ", ".join(stale))
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
