"""The machine on which the chaos takes place, and who starts, stops and kills its processes by lot."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.chaos.actors import PERSON, TEAMS

from restante.domain.errors import Busy
from restante.roster import Roster
from restante.wiring.monitors import MonitorParts
from restante.wiring.sessions import open_exchange

if TYPE_CHECKING:
    from restante.domain.mailbox import Entry

NAMES = ("ann", "bo", "cy", "dot", "eve", "fay")
COMMAND = [sys.executable, "-I", "-c", "from restante.__main__ import main; main()"]
ACTORS = Path(__file__).with_name("actors.py")
# The longest that anybody is stopped.
STOPPED = 8.0
_STEP = 0.1
# What happens, and how often.
_ACTS = {
    "kill holder": 5,
    "stop holder": 4,
    "take over": 2,
    "kill host": 4,
    "stop host": 3,
    "kill poster": 1,
    "stop poster": 1,
    "kill watchdog": 1,
    "stop watchdog": 1,
    "post": 5,
}

# The person's own way to wake: it writes down whom, and pokes that session if it is there. Sometimes it is slow, and
# where a file says so it fails the first time for some marks.
WAKE = """#!/bin/sh
place=$1
echo "$(date +%s) $RESTANTE_MAILBOX $RESTANTE_MARK $RESTANTE_UNSEEN $RESTANTE_SESSION" >>"$place/wakes"
[ $((RESTANTE_MARK % 9)) = 4 ] && sleep 1
if [ -e "$place/fails" ] && [ $((RESTANTE_MARK % 13)) = 5 ]; then
	mkdir "$place/fails/$RESTANTE_SESSION.$RESTANTE_MARK" 2>/dev/null && exit 1
fi
poke=$place/pokes/$RESTANTE_SESSION
[ -p "$poke" ] && echo w 1<>"$poke"
exit 0
"""


class Slot:
    """A place that one process after the other fills.

    Attributes:
        kind: What it does: ``holder``, ``host``, ``poster``, ``watchdog``.
        role: Which role a holder takes.
        process: Who fills it now; ``None`` while nobody does.
        name: What that one is called.
        is_stopped: Whether it is stopped now.
        due: When something has to be done: to let it go on, or to start the next one.
    """

    def __init__(self, kind: str, number: int, role: str = "") -> None:
        self.kind = kind
        self.number = number
        self.role = role
        self.process: subprocess.Popen[bytes] | None = None
        self.name = ""
        self.starts = 0
        self.is_stopped = False
        self.due = 0.0


class Stage:
    """All processes on one data directory.

    Args:
        place: An empty directory.
        seed: What all lots are drawn by.
        roles: How many roles each team has.
        fails: Whether some wakes fail the first time; each is made again after a while only.
    """

    def __init__(self, place: Path, seed: int, roles: int, *, fails: bool) -> None:
        self.place = place
        self.data = place / "data"
        self.seed = seed
        self.dice = random.Random(seed)
        self.did: Counter[str] = Counter()
        self.roles = [f"{team}/{name}" for team in TEAMS for name in NAMES[:roles]]
        # Each happens once before chance alone decides.
        self._first = self.dice.sample(list(_ACTS), len(_ACTS))
        self.slots = [
            *(Slot("holder", number, role) for number, role in enumerate(self.roles)),
            *(Slot("host", number) for number in range(2)),
            *(Slot("poster", number) for number in range(2)),
            Slot("watchdog", 0),
        ]
        # Stopped ones whose role the person gave to somebody else, and commands that post.
        self.ghosts: list[Slot] = []
        self.commands: list[tuple[subprocess.Popen[bytes], float, Path]] = []
        self._prepare(fails=fails)
        self._log = os.open(place / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.parts = MonitorParts(self.environment)

    def _prepare(self, *, fails: bool) -> None:
        for name in ("pokes", "posts", *(["fails"] if fails else [])):
            (self.place / name).mkdir()
        script = self.place / "wake"
        script.write_text(WAKE)
        script.chmod(0o755)
        (self.place / "wakes").touch()
        self.environment = {
            "RESTANTE_DATA": str(self.data),
            "HOME": str(self.place),
            "PATH": "/usr/bin:/bin",
            "RESTANTE_WAKE_COMMAND": json.dumps([str(script), str(self.place)]),
        }
        exchange = open_exchange(self.environment)
        exchange.window(PERSON).set_persistence(True)
        exchange.close()
        parts = MonitorParts(self.environment)
        for role in self.roles:
            Roster(parts, lambda: PERSON).join(role)
        parts.close()

    # -- chaos ---------------------------------------------------------------------------------------------

    def play(self, seconds: float, mean: float) -> None:
        """Let chance reign for so many seconds, with something happening every ``mean`` seconds."""
        assert self.wait(self.all_armed, 120)
        happens = time.monotonic()
        end = happens + seconds
        while time.monotonic() < end:
            time.sleep(_STEP)
            self._tend()
            if time.monotonic() >= happens:
                happens = time.monotonic() + self.dice.expovariate(1 / mean)
                self._happen()

    def calm(self) -> None:
        """Let everybody go on, end the posters, and see that every role has a holder and hosts listen."""
        with suppress(FileNotFoundError):
            (self.place / "fails").rename(self.place / "failed")
        for command, _, _ in self.commands:
            command.wait(60)
        self.commands = []
        self.slots, posters = _split(self.slots, "poster")
        for slot in (*posters, *self.slots, *self.ghosts):
            self._go_on(slot)
        for slot in posters:
            self._kill(slot)
        for slot in self.slots:
            slot.due = 0.0
        self._tend()

    def wait(self, holds: Any, seconds: float) -> bool:
        """Tend to the processes until something holds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return True
            self._tend()
            time.sleep(0.25)
        return bool(holds())

    def _happen(self) -> None:
        (act,) = [self._first.pop()] if self._first else self.dice.choices(list(_ACTS), list(_ACTS.values()))
        if act == "post":
            self._post()
            return
        what, _, kind = act.partition(" ")
        living = [one for one in self.slots if one.kind == kind.replace("over", "holder") and one.process]
        if not living:
            return
        slot = self.dice.choice(living)
        if what == "kill":
            self._kill(slot)
            slot.due = time.monotonic() + self.dice.expovariate(1.0)
        elif not slot.is_stopped:
            self._stop(slot)
            if what == "take":
                self._take_over(slot)
                return
        self.did[act] += 1

    def _take_over(self, slot: Slot) -> None:
        """Let the person give a role to somebody new while its holder is stopped."""
        try:
            held = Roster(self.parts, lambda: PERSON).drop(slot.role)
        except Busy:
            return
        if held != slot.name:
            # It has not come to take it yet.
            return
        self.did["take over"] += 1
        ghost = Slot("ghost", slot.number, slot.role)
        ghost.process, ghost.name, ghost.is_stopped, ghost.due = slot.process, slot.name, True, slot.due
        self.ghosts.append(ghost)
        slot.process, slot.is_stopped, slot.due = None, False, 0.0

    def _post(self) -> None:
        """Post by the command, which may be killed in the middle."""
        self.did["post"] += 1
        told = self.place / "posts" / str(self.did["post"])
        with told.open("wb") as file:
            words = ["post", self.dice.choice(self.roles), f"command {self.did['post']}", "--json"]
            process = subprocess.Popen(
                [*COMMAND, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file
            )
        killed_at = time.monotonic() + (self.dice.random() * 0.5 if self.dice.random() < 0.3 else 60)
        self.commands.append((process, killed_at, told))

    # -- processes -----------------------------------------------------------------------------------------

    def say(self, did: str, slot: Slot) -> None:
        """Write down what is done to somebody."""
        line = json.dumps({"at": time.time(), "who": slot.name, "did": did, "kind": slot.kind, "role": slot.role})
        os.write(self._log, line.encode() + b"\n")

    def _start(self, slot: Slot) -> None:
        slot.starts += 1
        slot.name = f"{slot.kind}-{slot.number}-{slot.starts}"
        words = [*COMMAND, "monitor", "run"]
        if slot.kind != "host":
            words = [sys.executable, "-I", str(ACTORS), slot.kind, str(self.place), slot.name, str(self.seed)]
            words += [slot.role] if slot.role else []
        with (self.place / f"said.{slot.name}").open("wb") as file:
            slot.process = subprocess.Popen(
                words, env=self.environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
            )
        self.say("start", slot)

    def _tend(self) -> None:
        """Let go on, and start, whose time it is; see that nobody ended who was not told to."""
        now = time.monotonic()
        for slot in (*self.slots, *self.ghosts):
            if slot.is_stopped and now >= slot.due:
                self._go_on(slot)
            if slot.process and slot.process.poll() is not None:
                self._ended(slot)
            if slot.process is None and slot.kind != "ghost" and now >= slot.due:
                self._start(slot)
        self.ghosts = [one for one in self.ghosts if one.process]
        for command, killed_at, _ in self.commands:
            if command.poll() is None and now >= killed_at:
                command.kill()
                command.wait()
                self.did["kill post"] += 1

    def _ended(self, slot: Slot) -> None:
        assert slot.process
        code, slot.process = slot.process.wait(), None
        said = (self.place / f"said.{slot.name}").read_text()
        # A holder ends by itself where the role is another's.
        assert (slot.kind in ("holder", "ghost"), code) == (True, 0), f"{slot.name} ended with {code}: {said}"
        self.say("end", slot)

    def _stop(self, slot: Slot) -> None:
        assert slot.process
        slot.process.send_signal(signal.SIGSTOP)
        slot.is_stopped, slot.due = True, time.monotonic() + self.dice.uniform(0.5, STOPPED)
        self.say("stop", slot)

    def _go_on(self, slot: Slot) -> None:
        if slot.is_stopped and slot.process:
            slot.process.send_signal(signal.SIGCONT)
            slot.is_stopped = False
            self.say("go on", slot)
            if slot.kind == "ghost":
                # It is told nothing any more; it looks all the same, as whoever is typed to does.
                with suppress(OSError):
                    poke(self.place / "pokes" / slot.name)

    def _kill(self, slot: Slot) -> None:
        if slot.process:
            slot.process.kill()
            slot.process.wait()
            slot.process, slot.is_stopped = None, False
            self.say("kill", slot)

    # -- the end -------------------------------------------------------------------------------------------

    def entries(self) -> dict[str, list[Entry]]:
        """Return all mail of each role."""
        return {role: self.parts.role_boxes.box(role, "").entries() for role in self.roles}

    def all_acknowledged(self) -> bool:
        """Tell whether nothing is pending."""
        return not any(self.parts.role_boxes.box(role, "").counts().pending for role in self.roles)

    def all_armed(self) -> bool:
        """Tell whether every role is armed by the holder that lives."""
        armed = {one.mailbox: one.session for one in self.parts.monitors.all()}
        return armed == {one.role: one.name for one in self.slots if one.kind == "holder"}

    def post_to_all(self) -> list[str]:
        """Post one message to each role as the person."""
        roster = Roster(self.parts, lambda: PERSON)
        copies = [roster.post(role, _draft("the last")) for role in self.roles]
        return [copy.posted.message.id for one in copies for copy in one if copy.posted]

    def leave(self) -> dict[str, int]:
        """Take all roles out of their teams, and end all in good order; return how hosts ended."""
        roster = Roster(self.parts, lambda: PERSON)
        for role in self.roles:
            roster.leave(role)
        ended = {}
        for slot in (*self.slots, *self.ghosts):
            self._go_on(slot)
            if slot.kind == "host" and slot.process:
                slot.process.terminate()
                ended[slot.name] = slot.process.wait(30)
            else:
                self._kill(slot)
        return ended

    def close(self) -> None:
        """End whatever is there still."""
        for slot in (*self.slots, *self.ghosts):
            self._kill(slot)
        for command, _, _ in self.commands:
            command.kill()
            command.wait()
        self.parts.close()
        os.close(self._log)


def poke(path: Path) -> None:
    """Wake whoever reads a FIFO."""
    fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    try:
        if stat.S_ISFIFO(os.fstat(fd).st_mode):
            os.write(fd, b"w\n")
    finally:
        os.close(fd)


def _split(slots: list[Slot], kind: str) -> tuple[list[Slot], list[Slot]]:
    return [one for one in slots if one.kind != kind], [one for one in slots if one.kind == kind]


def _draft(text: str) -> Any:
    from restante.domain.message import Draft

    return Draft(text)
