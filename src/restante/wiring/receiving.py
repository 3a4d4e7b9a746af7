"""Receivers: what hosts them hears bells, looks whether a session has to be woken, wakes it, keeps what came of it.

Any number of hosts may listen for the same mailboxes: whether a mark is woken for is decided in one transaction.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import TYPE_CHECKING

from restante.agents.calling import command_name
from restante.agents.wake import running
from restante.domain import receiving
from restante.domain.errors import Busy, RestanteError
from restante.domain.monitor import Target, Wake, Woken
from restante.domain.monitoring import Word
from restante.system.doorbells import FileDoorbells
from restante.system.places import data_directory
from restante.system.processes import process_of
from restante.wiring.monitors import MonitorParts, open_host
from restante.wiring.orphans import Orphans
from restante.wiring.wakers import Wakers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.domain.monitor import Monitor
    from restante.domain.monitoring import Answer
    from restante.domain.registry import Latch
    from restante.ports.monitoring import Waker
    from restante.ports.sessions import Keeping
    from restante.stores.sql.listening import PostgresWatcher
    from restante.vigil import Vigil

    _Key = tuple[str, str]

WATCH_SECONDS = 30.0
# In each so many rounds of the watchdog it gives signs of life, ends what is over, and decides about every mailbox
# whatever its numbers say; each costs questions or a transaction for every mailbox.
_ROUNDS_OF_LIFE, _ROUNDS_OF_ENDING, _ROUNDS = 2, 4, 10
_LOOK_SECONDS = 1.0
_BUSY_SECONDS = 2.0
_PAUSE_SECONDS = 0.25
_FINISH_SECONDS = 5.0
_AT_ONCE = 8
_NEVER = float("inf")
_REWAKE = "claude-rewake"


class Receivers:
    """Hosts the receivers of all armed mailboxes of this machine.

    Args:
        environment: Where settings and places come from.
        parts: What it works with, where the program has them already.
        say: Told what happens, in a sentence without a word of mail.
        watch: Seconds between two rounds of the watchdog.
        wakers: Makes an adapter by its name.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        parts: MonitorParts | None = None,
        say: Callable[[str], None] = lambda _: None,
        watch: float = WATCH_SECONDS,
        wakers: Callable[[str], Waker | None] | None = None,
    ) -> None:
        self._parts = parts or MonitorParts(environment)
        self._environment = environment
        self._host = open_host(environment, self._parts)
        self._bells = FileDoorbells(data_directory(environment))
        self._say = say
        self._watch = watch
        self._make = wakers or Wakers(environment, self._parts)
        self._wakers: dict[str, Waker | None] = {}
        self._process = process_of(os.getpid())
        self._command = command_name(os.path.dirname(sys.executable), environment)
        self._monitors: dict[_Key, Monitor] = {}
        self._bells_seen: frozenset[str] = frozenset()
        self._learn_at = _NEVER
        self._due: dict[_Key, float] = {}
        self._put_off: dict[_Key, float] = {}
        self._at_work: dict[_Key, Thread] = {}
        self._asked: dict[str, datetime] = {}
        self._greeted: set[_Key] = set()
        self._overheard: PostgresWatcher | None = None
        self._round = 0
        self._orphans = Orphans(environment)
        running.write_down_in(self._orphans)

    def look_into(self, keeping: Keeping) -> None:
        """Look for the mail of sessions where the program that hosts this keeps it; to be told before it runs."""
        self._parts.keeping = keeping

    def run(self) -> None:
        """Listen until told to stop; a wake that is on its way then has a moment to end."""
        if self._parts.settings.database_url:
            Thread(target=self._overhear, name="restante-notices", daemon=True).start()
        next_round, trouble = 0.0, ""
        while not self._bells.is_closed:
            wait = max(0.0, min(next_round, self._learn_at, *list(self._due.values())) - time.monotonic())
            for _ in self._bells.ticks(wait):
                # A database that is out of reach for a while is no reason to end.
                try:
                    if time.monotonic() >= next_round:
                        next_round = time.monotonic() + self._watch
                        self._look_after()
                        trouble = ""
                    self._hear()
                    self._put_to_work()
                except RestanteError as error:
                    if error.message != trouble:
                        self._say(f"nobody is woken until this is over: {error.message}")
                    trouble = error.message
                if min(self._learn_at, *list(self._due.values()), _NEVER) < next_round:
                    # To wait for that, and no longer.
                    break
        if self._overheard is not None:
            self._overheard.close()
        end = time.monotonic() + _FINISH_SECONDS
        for thread in self._at_work.values():
            thread.join(max(0.0, end - time.monotonic()))
        if any(thread.is_alive() for thread in self._at_work.values()):
            running.end_all()
        self._bells.leave()

    @property
    def looks(self) -> bool:
        """Whether bells are heard by looking once a second."""
        return self._bells.looks

    def stop(self) -> None:
        """Let ``run`` end, from whatever thread or signal handler."""
        self._bells.close()

    # -- listening -----------------------------------------------------------------------------------------

    def _hear(self) -> None:
        there = self._bells.there()
        now = time.monotonic()
        if there != self._bells_seen:
            self._bells_seen = there
            # A bell goes a moment before it is kept that nobody listens any more.
            self._learn_at = now + _LOOK_SECONDS
            self._learn()
        elif now >= self._learn_at:
            self._learn_at = _NEVER
            self._learn()
        addresses = list(dict.fromkeys(mailbox for mailbox, _ in self._monitors))
        rung = set(self._bells.rung(addresses))
        for key in self._monitors:
            if key[0] in rung:
                self._due[key] = now

    def _overhear(self) -> None:
        """Ring here for what is posted to the database from other machines, as it tells of its own accord."""
        from restante.stores.sql.listening import PostgresWatcher

        watcher = self._parts.watcher
        if not isinstance(watcher, PostgresWatcher):
            return
        self._overheard = watcher
        for heard in watcher.hearings():
            if self._bells.is_closed:
                return
            for one in heard:
                self._bells.ring(one.name)

    def _learn(self) -> None:
        """Read which mailboxes are armed, and say what is new about that."""
        found = {(one.mailbox, one.owner): one for one in self._host.standing() if receiving.is_received(one)}
        for key in found.keys() - self._monitors.keys():
            self._say(f"listening for {key[0]}, by {found[key].adapter}")
        for key in self._monitors.keys() - found.keys():
            self._say(f"no longer listening for {key[0]}")
            self._due.pop(key, None)
            self._put_off.pop(key, None)
        self._monitors = found

    def _put_to_work(self) -> None:
        """Look at every mailbox that is due, each in a thread of its own: a wake takes seconds to be confirmed."""
        now = time.monotonic()
        self._at_work = {key: thread for key, thread in self._at_work.items() if thread.is_alive()}
        for key in [key for key, when in list(self._due.items()) if when <= now]:
            if key in self._at_work or len(self._at_work) >= _AT_ONCE:
                self._due[key] = now + _PAUSE_SECONDS
                continue
            del self._due[key]
            # The system may end it where a wake hangs: what was decided is kept, and is looked at again.
            thread = Thread(target=self._serve, args=(key,), name="restante-wake", daemon=True)
            self._at_work[key] = thread
            thread.start()

    def _later(self, key: _Key, seconds: float) -> None:
        """Look at a mailbox again after a while; from whatever thread. One that rang meanwhile is due before that."""
        self._due[key] = min(self._due.get(key, _NEVER), time.monotonic() + seconds)
        self._bells.nudge()

    # -- one mailbox ---------------------------------------------------------------------------------------

    def _serve(self, key: _Key) -> None:
        monitor = self._monitors.get(key)
        if monitor is None:
            return
        try:
            self._look(key, monitor)
        except Busy:
            self._later(key, _BUSY_SECONDS)
        except RestanteError as error:
            self._say(f"{key[0]}: {error.message}")

    def _look(self, key: _Key, monitor: Monitor) -> None:
        since = self._put_off.setdefault(key, time.monotonic())
        waited = timedelta(seconds=time.monotonic() - since)
        if receiving.is_in_turn(self._latch(monitor.session), waited):
            self._later(key, _LOOK_SECONDS)
            return
        self._put_off.pop(key, None)
        vigil = self._host.hosting(key[1])
        answer = vigil.check(key[0])
        again = receiving.look_again(answer)
        if again is not None:
            self._later(key, again.total_seconds())
        if answer.word is Word.WAKE and answer.monitor is not None:
            self._wake(vigil, answer, answer.monitor)

    def _wake(self, vigil: Vigil, answer: Answer, monitor: Monitor) -> None:
        mailbox, mark = monitor.mailbox, answer.mark
        session = self._parts.sessions.session(monitor.session, monitor.owner)
        target = Target(
            monitor.session,
            monitor.vendor,
            session.worktree if session else "",
            mailbox,
            mark,
            answer.unseen,
            os.urandom(8).hex(),
        )
        waker = self._waker(monitor.adapter)
        woken = Woken(Wake.IMPOSSIBLE, f"there is no way {monitor.adapter!r} to wake a session")
        if waker is not None:
            woken = waker.wake(target, receiving.wake_text([mailbox], self._command, only_reports=monitor.only_reports))
        if woken.wake is Wake.CONFIRMED:
            vigil.confirmed(mailbox, mark, token=monitor.token)
            self._say(f"woke the session of {mailbox} for mark {mark}, by {monitor.adapter}")
        elif woken.wake is Wake.UNCONFIRMED:
            vigil.failed(mailbox, mark, woken.reason, token=monitor.token)
            self._say(f"the wake for {mailbox} is not confirmed: {woken.reason}")
        else:
            vigil.hindered(mailbox, woken.reason, mark=mark, token=monitor.token)
            if monitor.hindrance != woken.reason:
                self._say(f"the session of {mailbox} cannot be woken: {woken.reason}")

    def _latch(self, session: str) -> Latch | None:
        return self._parts.turns.latches([session]).get(session)

    def _waker(self, name: str) -> Waker | None:
        if name not in self._wakers:
            self._wakers[name] = self._make(name)
        return self._wakers[name]

    # -- the watchdog --------------------------------------------------------------------------------------

    def _look_after(self) -> None:
        """Go round once: end what is over, give signs of life, and look where a bell or a wake may have been lost."""
        if left := self._orphans.end():
            self._say(f"ended {left} that a host which was killed had started to wake somebody")
        # Who subscribed need not have armed anything.
        self._notice_expiries()
        # Whoever armed first may have been killed before there was a bell.
        if not (self._bells.are_used or self._parts.has_roles):
            return
        lives, ends, looks_at_all = (
            self._round % often == 0 for often in (_ROUNDS_OF_LIFE, _ROUNDS_OF_ENDING, _ROUNDS)
        )
        self._round += 1
        for answer in self._host.sweep() if ends else ():
            if answer.monitor is not None:
                self._say(f"{answer.monitor.mailbox} is no longer monitored: its time is over, or its session is gone")
        self._learn()
        now, here = self._parts.clock.now(), time.monotonic()
        for key in self._hang_bells():
            self._due.setdefault(key, here)
        for key, monitor in self._monitors.items():
            trouble = receiving.deaf_host(monitor, self._process.pid, self._process.host, now)
            if trouble:
                self._say(f"{key[0]}: {trouble}; this host listens")
            if monitor.adapter == _REWAKE:
                self._look_after_waiter(monitor, now)
            if looks_at_all or receiving.was_missed(monitor, now) or self._was_unrung(monitor, now):
                self._due.setdefault(key, here)
        self._greeted &= self._monitors.keys()
        with self._parts.lightly():
            # Whoever was armed since is told in any round that somebody listens.
            for mailbox, owner in self._monitors if lives else self._monitors.keys() - self._greeted:
                self._host.hosting(owner).beat(mailbox, self._process)
        self._greeted |= self._monitors.keys()

    def _was_unrung(self, monitor: Monitor, now: datetime) -> bool:
        """Tell whether a wake is due that no bell told of: whoever posted may have been killed before they rang."""
        with suppress(RestanteError):
            return receiving.is_due(monitor, self._parts.all_sights.look(monitor.mailbox, monitor.owner), now)
        return False

    def _hang_bells(self) -> list[_Key]:
        """Put up the bells that are missing, and return whose: whoever armed was killed in between, for example."""
        bare = set(self._bells.missing([mailbox for mailbox, _ in self._monitors]))
        found = [key for key in self._monitors if key[0] in bare]
        for mailbox, owner in found:
            self._host.hosting(owner).attune(mailbox)
        return found

    def _notice_expiries(self) -> None:
        """Report what nobody came by to report: subscriptions that are over."""
        from restante.domain.registry import Identity
        from restante.roster import Roster

        Roster(self._parts, Identity).notice_expiries()

    def _look_after_waiter(self, monitor: Monitor, now: datetime) -> None:
        """Ask the waiter of a session for a sign of life, and keep it if there was none."""
        from restante.agents.wake.claude_rewake import ClaudeRewake

        waker = self._waker(_REWAKE)
        if not isinstance(waker, ClaudeRewake):
            return
        session = monitor.session
        heard = waker.heard(session)
        heard_at = datetime.fromtimestamp(heard, UTC) if heard else None
        asked = self._asked.get(session)
        trouble = receiving.waiter_trouble(waker.waits(session), heard_at, asked, now)
        if asked is None or (heard_at is not None and heard_at >= asked):
            self._asked[session] = now
        waker.ping(session)
        latch = self._latch(session)
        is_quiet = latch is None or latch.ended is not None
        # While a wake is on its way, or the session works, there is no waiter, and nothing is wrong.
        if is_quiet and not monitor.pending and trouble != monitor.hindrance:
            self._host.hosting(monitor.owner).hindered(monitor.mailbox, trouble, token=monitor.token)
            if trouble:
                self._say(f"{monitor.mailbox}: {trouble}")


def look(session: str, environment: Mapping[str, str]) -> str:
    """Look, for the waiter of a session, whether it has to be woken; return what that is to be told, empty for no.

    What is told counts as a wake that arrived: the waiter ends by it.
    """
    parts = MonitorParts(environment)
    try:
        if receiving.is_in_turn(parts.turns.latches([session]).get(session), timedelta()):
            return ""
        host = open_host(environment, parts)
        told = []
        for monitor in parts.monitors.of_session(session):
            if not receiving.is_received(monitor):
                continue
            vigil = host.hosting(monitor.owner)
            with suppress(RestanteError):
                if monitor.hindrance:
                    # The waiter that asks is what was missing.
                    vigil.hindered(monitor.mailbox, "", token=monitor.token)
                answer = vigil.check(monitor.mailbox)
                if answer.word is Word.WAKE and answer.monitor is not None:
                    vigil.confirmed(monitor.mailbox, answer.mark, token=answer.monitor.token)
                    told.append(answer.monitor)
        if not told:
            return ""
        # Who also has mail to answer is told the way to all of it.
        only_reports = all(one.only_reports for one in told)
        names = [one.mailbox for one in told]
        command = command_name(os.path.dirname(sys.executable), environment)
        return receiving.wake_text(names, command, only_reports=only_reports)
    finally:
        parts.close()
