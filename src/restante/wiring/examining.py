"""Looks an OACP tree over: what is there, what is old, what cannot be relied on. Looking changes nothing."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from restante.autonomy.findings import sweep
from restante.autonomy.policy import parse_policy
from restante.domain.errors import RestanteError
from restante.stores.files import read_file
from restante.stores.oacp.audit import FOLDER, AuditStore
from restante.stores.oacp.layout import ARCHIVE, INBOX, PROJECTS, Tree
from restante.system.signing.desk import ReceiverDesk, read_pins
from restante.system.signing.jwk import NoCrypto
from restante.system.signing.places import place_of
from restante.wiring.attending import Attendance, Result
from restante.wiring.mailing import Mail
from restante.wiring.trusting import FORM, trust_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.ports import Clock

_STALE_NANOSECONDS = 24 * 3600 * 1_000_000_000


class Examiner:
    """Looks over a tree, and one project of it where one is named.

    Args:
        home: The tree.
        project: The project; empty for none.
        clock: The time.
    """

    def __init__(self, home: str, project: str, clock: Clock) -> None:
        self._home = home
        self._tree = Tree(home)
        self._project = project
        self._clock = clock
        self._attendance = Attendance(home, project, clock.now())

    def mend(self) -> list[str]:
        """Make what is missing and can be made safely; return what was done. See ``Attendance.mend``."""
        return self._attendance.mend(self._tree.agents(self._project)) if self._project else []

    def categories(self, audits: str = "") -> Iterator[tuple[str, list[Result]]]:
        """Give each category with what was found.

        Args:
            audits: A folder of audit records that is looked at too; empty for none.
        """
        yield "Environment", list(self._environment())
        yield "Agent Registry", list(self._attendance.registry())
        if self._project:
            yield from self._of_project()
        if audits:
            yield "Audit", [_audit(audits)]

    def _of_project(self) -> Iterator[tuple[str, list[Result]]]:
        yield "Workspace", list(self._workspace())
        try:
            agents = self._tree.agents(self._project)
        except RestanteError:
            return
        yield "Inbox Health", [one for agent in agents for one in self._inbox(agent)]
        yield "Schemas", list(self._attendance.schemas(agents))
        yield "Autonomy", [one for agent in agents for one in self._autonomy(agent)]
        yield "Agent Status", list(self._attendance.statuses(agents))
        yield "Trust Root", list(self._trust(agents))

    def _environment(self) -> Iterator[Result]:
        yield Result("pyyaml", "ok", "pyyaml: there, with its C loader")
        try:
            from restante.system.signing.jwk import derive_x

            derive_x(bytes(32))
            yield Result("cryptography", "ok", "cryptography: there")
        except NoCrypto as error:
            yield Result("cryptography", "warn", f"cryptography: {error.message}", error.remedy)
        if os.path.isdir(self._home):
            yield Result("home", "ok", f"home: {self._home}")
        else:
            yield Result("home", "error", f"home: {self._home} is not there", "oacp init NAME")

    def _workspace(self) -> Iterator[Result]:
        try:
            agents = self._tree.agents(self._project)
        except RestanteError as error:
            yield Result("project", "error", error.message, error.remedy)
            return
        path = self._tree.path(PROJECTS, self._project, "workspace.json")
        try:
            content = json.loads(read_file(path) or b"null")
            is_named = isinstance(content, dict) and content.get("project_name") == self._project
        except (ValueError, RecursionError, RestanteError):
            is_named = False
        if is_named:
            yield Result("workspace.json", "ok", "workspace.json: valid")
        else:
            yield Result("workspace.json", "error", f"{path} is missing, or names another project")
        yield Result("agents", "ok" if agents else "warn", f"agents: {len(agents)}")

    def _inbox(self, agent: str) -> Iterator[Result]:
        name = f"{agent}/inbox"
        try:
            listing = Mail(self._home, self._project, self._clock).waiting(agent)
            with self._tree.open_agent(self._project, agent, INBOX) as inbox:
                inbox.inside(ARCHIVE).close()
        except RestanteError as error:
            hint = f"oacp agent add {self._project} {agent}"
            yield Result(name, "error", f"{name}: {error.message}", hint)
            return
        oldest = int(self._clock.now().timestamp() * 1e9) - _STALE_NANOSECONDS
        stale = sum(row.modified < oldest for row in listing.rows)
        broken = [row for row in listing.rows if row.error]
        for row in broken:
            yield Result(
                name, "warn", f"{name}: {row.name}: {row.error}", "look at it; it stays until somebody moves it"
            )
        count = f"{name}: {len(listing.rows)} message(s)" if listing.rows else f"{name}: empty"
        if stale:
            yield Result(name, "warn", f"{count}, {stale} of them older than a day", "restante check-inbox")
        else:
            yield Result(name, "ok", count)

    def _autonomy(self, agent: str) -> Iterator[Result]:
        desk = ReceiverDesk(place_of(self._home, self._project, agent), FORM, self._clock)
        name = f"{agent}/config.yaml"
        rules = desk.rules
        policy = parse_policy(rules.config)
        if rules.error:
            yield Result(name, "error", f"{name}: {rules.error}", "all mail is held until it can be relied on")
        elif not os.path.exists(desk.place.config):
            yield Result(name, "skip", f"{name}: none, so everything pauses")
        elif policy.is_malformed:
            yield Result(name, "error", f"{name}: {'; '.join(policy.faults)}", "everything pauses until it is mended")
        else:
            extra = "" if policy.strict else ", without the stricter stops"
            yield Result(name, "ok", f"{name}: {policy.mode}, verification {rules.mode}, {rules.auth.status}{extra}")
        try:
            book = AuditStore.of_agent(self._home, self._project, agent)
            found = sweep(book.all())
        except RestanteError as error:
            yield Result(f"{agent}/audit", "skip", f"{agent}/audit: {error.message}")
            return
        errors = [
            f"{file}: {one.code}" for file, each in found.records.items() for one in each if one.severity == "error"
        ]
        for one in errors[:20]:
            yield Result(
                f"{agent}/audit", "error", f"{agent}/audit: {one}", "oacp autonomy finalize DIR --validate --sweep"
            )
        if not errors:
            yield Result(f"{agent}/audit", "ok", f"{agent}/audit: {len(found.records)} record(s), no integrity errors")

    def _trust(self, agents: list[str]) -> Iterator[Result]:
        try:
            catalog = trust_of(self._home, self._project, self._clock).listed()["catalog"]
            yield Result("catalog", "ok", f"catalog: {len(catalog) if isinstance(catalog, list) else 0} identities")
        except RestanteError as error:
            yield Result("catalog", "error", f"catalog: {error.message}", error.remedy)
        for agent in agents:
            desk = ReceiverDesk(place_of(self._home, self._project, agent), FORM, self._clock)
            pins, error_text = read_pins(desk.place, FORM)
            active = sum(pin.status == "active" for pin in pins.values())
            if error_text:
                yield Result(agent, "error", f"{agent}: {error_text}", "oacp trust list, then sign-policy")
            elif desk.mode == "enforce" and not active:
                yield Result(agent, "warn", f"{agent}: enforces and believes nobody", "oacp trust import STUB")
            else:
                yield Result(agent, "ok", f"{agent}: {len(pins)} pin(s), {active} active")


def _audit(folder: str) -> Result:
    if os.path.basename(os.path.normpath(folder)) == FOLDER[-1]:
        return Result("audit-directory-basename", "ok", "audit directory basename is canonical")
    text = f"audit directory {folder!r}: expected basename {FOLDER[-1]!r}; other programs may not see what is in it"
    return Result("audit-directory-basename", "warn", text)
