"""Those who take part in the chaos, each a process of its own: ``python -I actors.py PART PLACE NAME SEED [ROLE]``.

They act by the same calls as agents, posters and watchdogs do, may be killed or stopped at any instant, and write down
in ``PLACE/log`` what they did once it was done: a line of JSON each, in one write.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from restante.domain.errors import Busy, MailboxFull, RoleHeld
from restante.domain.message import Draft
from restante.domain.monitor import Target, Wake
from restante.domain.monitoring import Word
from restante.domain.receipt import Action, Decision
from restante.domain.registry import Arrival, Identity
from restante.roster import Roster
from restante.system.processes import process_of
from restante.vigil import Vigil
from restante.wiring.monitors import MonitorParts, open_host
from restante.wiring.sessions import open_exchange
from restante.wiring.wakers import Wakers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Answer = TypeVar("_Answer")

PERSON = Identity("", verified=True)
TEAMS = ("lexer", "parser")
# A receiver that was heard of within so many seconds is left alone by the watchdog.
HEALTHY = timedelta(seconds=60)
_LOOK_SECONDS = 4.0


class Actor:
    """A process with a name, dice and a log."""

    def __init__(self, place: str, name: str, seed: str) -> None:
        self.place = place
        self.name = name
        self.dice = random.Random(f"{seed} {name}")
        self.environment = dict(os.environ)
        self.parts = MonitorParts(self.environment)
        self._log = os.open(os.path.join(place, "log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def say(self, did: str, **facts: object) -> None:
        """Write down what was done."""
        line = json.dumps({"at": time.time(), "who": self.name, "did": did, **facts})
        os.write(self._log, line.encode() + b"\n")

    def pause(self, mean: float) -> None:
        """Sleep for about so many seconds."""
        time.sleep(min(self.dice.expovariate(1 / mean), 4 * mean))

    def insist(self, act: Callable[[], _Answer]) -> _Answer:
        """Do something, again where somebody who was stopped holds the database."""
        while True:
            with suppress(Busy):
                return act()
            self.pause(0.2)


class Holder(Actor):
    """A session that takes a role, arms it, and then looks into its inbox only when it is woken."""

    def __init__(self, place: str, name: str, seed: str, role: str) -> None:
        super().__init__(place, name, seed)
        self.role = role
        me = Identity("", name, verified=True)
        self.roster = Roster(self.parts, lambda: me)
        self.vigil = Vigil(self.parts, lambda: me)
        path = os.path.join(place, "pokes", name)
        os.mkfifo(path)
        self._poke = os.open(path, os.O_RDWR)

    def run(self) -> None:
        """Work until the role is another's."""
        arrival = Arrival(self.name, vendor="codex", process=process_of(os.getpid()))
        self.insist(lambda: open_exchange(self.environment).window(PERSON).register(arrival))
        try:
            self._take()
            # What somebody before had begun with wakes nobody any more; now and then all is read, as people do.
            self._collect(only_begun=self.dice.random() < 0.7)
            while True:
                os.read(self._poke, 4096)
                self.say("woken")
                self._collect()
        except RoleHeld:
            self.say("fenced")

    def _take(self) -> None:
        while True:
            try:
                seat = self.insist(lambda: self.roster.act_as(self.role))
                break
            except RoleHeld:
                self.say("refused")
                time.sleep(0.5)
        lease = seat.member.lease
        assert lease
        self.say("took", role=self.role, generation=lease.generation)
        self.insist(lambda: self.vigil.arm(self.role, adapter="command"))
        self.say("armed", role=self.role)

    def _collect(self, *, only_begun: bool = False) -> None:
        entries = self.insist(lambda: self.roster.read(self.role)).entries
        ids = [one.message.id for one in entries if not only_begun or one.standing.seen_at is not None]
        if not ids:
            return
        self.pause(0.05)
        self.insist(lambda: self.roster.confirm(self.role, ids))
        self.pause(0.05)
        for some in self._portions(ids):
            self.insist(partial(self._acknowledge, some))
            self.say("acknowledged", role=self.role, ids=some)

    def _acknowledge(self, ids: list[str]) -> None:
        self.roster.acknowledge(self.role, ids, decision=Decision.ACCEPTED, action=Action.APPLIED, summary=self.name)

    def _portions(self, ids: list[str]) -> Iterator[list[str]]:
        while ids:
            count = self.dice.randint(1, len(ids))
            yield ids[:count]
            ids = ids[count:]
            self.pause(0.02)


class Poster(Actor):
    """Posts to roles and, now and then, to a whole team or several messages at once."""

    def run(self) -> None:
        """Post until killed."""
        roster = Roster(self.parts, lambda: PERSON)
        roles = [seat.member.role for seat in self.insist(roster.seats)]
        number = 0
        while True:
            self.pause(1.5)
            for _ in range(self.dice.choice((1, 1, 1, 4))):
                number += 1
                to = f"{self.dice.choice(TEAMS)}/*" if self.dice.random() < 0.03 else self.dice.choice(roles)
                # Whoever was killed before it could say that it posted has posted all the same.
                with suppress(Busy, MailboxFull):
                    copies = roster.post(to, Draft(f"{self.name} {number}"))
                    self.say("posted", ids=[copy.posted.message.id for copy in copies if copy.posted])


class Watchdog(Actor):
    """Looks after roles whose receiver is silent, and wakes in its place."""

    def run(self) -> None:
        """Look until killed."""
        vigil = open_host(self.environment, self.parts)
        waker = Wakers(self.environment, self.parts)("command")
        assert waker
        while True:
            time.sleep(_LOOK_SECONDS)
            for monitor in vigil.standing():
                with suppress(Busy):
                    answer = vigil.check(monitor.mailbox, healthy_within=HEALTHY)
                    if answer.word is not Word.WAKE or answer.monitor is None:
                        continue
                    one = answer.monitor
                    words = one.session, one.vendor, "", one.mailbox, answer.mark, answer.unseen, "watchdog"
                    woken = waker.wake(Target(*words), "Mail waits.")
                    self.say("woke", role=one.mailbox, mark=answer.mark)
                    if woken.wake is Wake.CONFIRMED:
                        vigil.confirmed(one.mailbox, answer.mark, token=one.token)
                    else:
                        vigil.failed(one.mailbox, answer.mark, woken.reason, token=one.token)


def main(part: str, *words: str) -> None:
    """Take a part."""
    parts: dict[str, type[Actor]] = {"holder": Holder, "poster": Poster, "watchdog": Watchdog}
    parts[part](*words).run()  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(*sys.argv[1:])
