"""The command line. Each command's module is imported when the command is named, so that all start quickly."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from restante.faces.cli.exits import run

# name -> (module below this package, attribute, what stands in the list of commands)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "send": ("send", "send", "Leave guidance for the agent of this worktree."),
    "status": ("follow", "status", "Show what became of your messages, or of one."),
    "watch": ("follow", "watch", "Follow the mailbox live, one line for each event."),
    "withdraw": ("follow", "withdraw", "Take a message back before it was acknowledged."),
    "snapshot": ("follow", "snapshot", "Print the whole mailbox as JSON."),
    "repeats": ("repeats", "repeats", "List, pause, resume, remove or run repeated messages."),
    "archive": ("follow", "archive", "Move answered messages out of INBOX.md."),
    "inbox": ("agent", "inbox", "Show the messages that wait (for the agent: and mark them seen)."),
    "ack": ("agent", "ack", "Say what you decided about messages and what you did (for the agent)."),
    "reply": ("agent", "reply", "Answer a message in words (for the agent)."),
    "install": ("setup", "install", "Teach the agent programs about this worktree's mailbox."),
    "uninstall": ("setup", "uninstall", "Take out everything that install put in."),
    "doctor": ("setup", "doctor", "Check the mailbox and what is installed; name the command that mends it."),
    "threads": ("setup", "threads", "List Codex threads and whether mail waits for them (read-only)."),
    "completion": ("setup", "completion", "Print the completion script for your shell."),
}


class LazyGroup(click.Group):
    """A group that imports a command when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, importing it."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(import_module(f"restante.faces.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


def print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from restante import __version__

        click.echo(f"restante {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=print_version)
def cli() -> None:
    """A mailbox for coding agents: leave guidance, the agent collects it at its next safe checkpoint.

    Exit codes: 0 ok, 1 failed, 2 usage, 3 nothing there, 4 refused, 5 timeout.
    """


def main() -> None:
    """Run the command line and end the process."""
    sys.exit(run(cli, sys.argv[1:]))
