"""``make demo``: the main job on real input, in a throw-away repository, with every step checked.

A person leaves guidance while an agent's tool runs. The agent collects it at its next checkpoint, does what it
says and acknowledges it. The person sees what became of it. Where the Codex program is present it is the real one,
in a home directory of its own, with a scripted model on loopback in place of the paid one; elsewhere the part of the
agent is played through the very hook lines that were installed. Then two sessions hand work over.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from demo.desk import Desk
from demo.handover import hand_over
from demo.players import PlayedAgent, RealCodex, find_codex
from demo.telling import Failed, check, show, show_file, step, tell
from tests.e2e.agents import Codex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demo.players import Player

GUIDANCE = """\
Leave the parser alone, the bug is in the lexer:
it reads "1e3" as a name.

## How to see it
    printf '1e3' | ./lex    # prints NAME, should print NUMBER"""


def main(arguments: Sequence[str]) -> int:
    """Run the demo; with ``--keep`` its directory stays."""
    place = Path(tempfile.mkdtemp(prefix="restante-demo-"))
    try:
        desk = _demonstrate(place)
        hand_over(desk, place / "data")
        tell("\nAll steps held. Try it in a repository of yours: .venv/bin/restante install -C DIR")
    except Failed as failure:
        print(f"\nThe demo FAILED: {failure}\nIts files are in {place}", file=sys.stderr)
        return 1
    if "--keep" in arguments:
        print(f"The files are in {place}")
    else:
        shutil.rmtree(place)
    return 0


def _demonstrate(place: Path) -> Desk:
    program, why = find_codex()
    codex = Codex(program or "codex", place / "home", bypass_trust=False)
    desk = Desk(place / "project", {**codex.environment(), "RESTANTE_DATA": str(place / "data")})
    player: Player = RealCodex(codex, desk.root) if program else PlayedAgent(codex, desk.root)
    tell("Restante: leave guidance for a coding agent; it collects it at its next checkpoint.")
    tell(f"The agent in this demo: {player.title} ({why}).")

    step("A throw-away repository, and Restante installed in it")
    _make_repository(desk.root)
    codex.trust(desk.root)
    show(desk.run("install", "--agent", "codex", "--trust", "--yes"))
    check("installing again changes nothing", "nothing to change" in desk.run("install", "--agent", "codex"))
    show_file(desk.root / "AGENTS.md")
    show_file(desk.root / ".codex" / "hooks.json")

    step("The agent works; while its tool runs, a person leaves guidance")
    sent: list[str] = []

    def leave_guidance() -> None:
        show(desk.run("send", "--priority", "high", "-", text=GUIDANCE))
        sent.append(desk.newest_message())
        check("nobody has looked at it yet", "unseen" in desk.run("status", sent[0]))

    told = player.work(leave_guidance)

    step("What the agent's model was told at its next checkpoint, after the tool")
    show(told.guidance)
    check("before that, the model was told nothing of it", not told.knew_before)
    check("the guidance came once, whole, between fences", told.guidance.count(f"~\n{GUIDANCE}\n~") == 1)
    check("it says which message, from whom and how urgent", f"{sent[0]} from human, priority high" in told.guidance)

    step("The agent answers from within its turn, and ends it")
    show(told.answer)
    check("the turn ended by itself, without being held up", told.ended_freely)

    step("The person asks what became of it")
    status = desk.run("status", sent[0])
    show(status)
    check("it was applied, and by whose word", f"{sent[0]}: applied\n" in status and "Done as asked" in status)

    step("The files, as they are on disk")
    show_file(desk.root / ".codex-mailbox" / "INBOX.md")
    show_file(desk.root / ".codex-mailbox" / "RECEIPTS.md")
    receipts = (desk.root / ".codex-mailbox" / "RECEIPTS.md").read_text()
    check("the receipt names the message", f"message_id: {sent[0]}" in receipts)
    return desk


def _make_repository(root: Path) -> None:
    root.mkdir()
    (root / "README.md").write_text("# A calculator\n")
    if shutil.which("git"):
        subprocess.run(["git", "init", "--quiet", root], check=True)
        return
    # What makes a directory a repository; Restante itself never calls git to find one.
    for name in ("objects", "refs"):
        (root / ".git" / name).mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
