"""Who believes whom: keys of others brought in, listed, revoked; under one lock for a project.

Knowing a key (catalog) and believing it (pins) are two decisions. A revoked key never comes back by bringing it in
again, and an entry is never replaced by another under the same name.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NothingThere, Refused, RestanteError, Unreadable
from restante.system.private import make_private
from restante.system.signing.files import locked, put, read_small, told
from restante.system.signing.jose import is_agent
from restante.system.signing.keys import Stub, read_stub, signing_keys
from restante.system.signing.pins import ACTIVE, REVOKED, Pin, parse_catalog, parse_pins, render_catalog, render_pins
from restante.system.signing.places import Place, catalog_of, check_project, place_of, project_directory
from restante.system.signing.policy import PINS, is_enrolled, sign_policy, verify_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.ports import Clock
    from restante.system.signing.desk import Format


class Imported(NamedTuple):
    """What bringing in a key changed.

    Attributes:
        kid: The key's name.
        agent: Whose it is.
        catalog: ``added``, ``updated`` or ``unchanged``.
        pins: The same, or ``skipped``.
        catalog_path: Where the catalog lies.
        pins_path: Where the pins lie; empty where they were skipped.
        receiver: Who believes it now; empty where nobody new does.
    """

    kid: str
    agent: str
    catalog: str
    pins: str
    catalog_path: str
    pins_path: str = ""
    receiver: str = ""

    def report(self) -> dict[str, object]:
        """Return it as the command prints it."""
        shown: dict[str, object] = self._asdict()
        return {key: value for key, value in shown.items() if value or key not in ("pins_path", "receiver")}


class Revoked(NamedTuple):
    """What revoking a key changed.

    Attributes:
        kid: The key's name.
        receivers: For each receiver that had it: ``revoked`` or ``unchanged``.
    """

    kid: str
    receivers: dict[str, str]

    def report(self) -> dict[str, object]:
        """Return it as the command prints it."""
        changed = [name for name, what in self.receivers.items() if what == REVOKED]
        return {"kid": self.kid, "receivers": self.receivers, "revoked": changed}


class Trust:
    """The keys of others in one project.

    Args:
        home: The OACP home.
        project: The project's name.
        form: How files are read.
        clock: The time.

    Raises:
        UsageError: The project's name would lead out of the tree.
        NothingThere: There is no such project.
    """

    def __init__(self, home: str, project: str, form: Format, clock: Clock) -> None:
        check_project(project)
        if not os.path.isdir(project_directory(home, project)):
            raise NothingThere(f"there is no project {project!r} in {home}")
        self._home = home
        self._project = project
        self._form = form
        self._clock = clock

    def add(self, stub_path: str, receiver: str = "") -> Imported:
        """Bring in the key that somebody gave away.

        Args:
            stub_path: The file that was given away.
            receiver: Who shall believe it; empty for the catalog only.

        Raises:
            NothingThere: No such file, or no such agent.
            Unreadable: It holds no public key, or a file of trust cannot be used.
            Refused: The receiver has revoked the key, or knows another entry under its name.
        """
        stub = read_stub(stub_path)
        place = self._place(receiver) if receiver else None
        path = catalog_of(self._home, self._project)
        with locked(path + ".lock"):
            known = self._catalog()
            entry, what = _merged(known.get(stub.kid), _known(stub), path)
            pins: dict[str, Pin] = {}
            pinned = "skipped"
            if place is not None:
                pins = self._pins(place)
                old = pins.get(stub.kid)
                if old is not None and old.status == REVOKED:
                    raise Refused(
                        f"{stub.kid} is revoked in {place.pins}; bringing it in never makes it count again",
                        remedy="remove the entry by hand to believe it again",
                    )
                pins[stub.kid], pinned = _merged(old, _pinned(stub), place.pins)
                if pinned != "unchanged":
                    self._write([(place, pins)])
            if what != "unchanged":
                put(path, render_catalog({**known, stub.kid: entry}.values()))
        return Imported(
            stub.kid, stub.agent, what, pinned, path, place.pins if place else "", place.receiver if place else ""
        )

    def listed(self, receiver: str = "") -> dict[str, object]:
        """Return the catalog and the pins, of all receivers or one, as the command prints them.

        Raises:
            Unreadable: A file of trust cannot be used.
            NothingThere: There is no such agent.
        """
        places = (
            [self._place(receiver)] if receiver else [place_of(self._home, self._project, n) for n in self._agents()]
        )
        pins = {place.receiver: _shown(self._pins(place)) for place in places}
        return {
            "catalog": _shown(self._catalog()),
            "pins": {name: one for name, one in pins.items() if one or receiver},
        }

    def revoke(self, kid: str, receiver: str = "") -> Revoked:
        """Believe a key no more, at one receiver or at all that have it: everywhere or nowhere.

        Args:
            kid: The key's name.
            receiver: At whom; empty for all.

        Raises:
            NothingThere: Nobody has pinned it.
            Unreadable: A file of trust cannot be used; nothing was changed.
            StorageFailed: A file cannot be written; all are as they were.
        """
        names = [receiver] if receiver else self._agents()
        with locked(catalog_of(self._home, self._project) + ".lock"):
            found = {}
            for place in (self._place(name) for name in names):
                pins = self._pins(place)
                if kid in pins:
                    found[place] = pins
            if not found:
                raise NothingThere(f"no pin has the key {kid!r:.80}", remedy="restante oacp trust list shows them")
            changed = []
            for place, pins in found.items():
                if pins[kid].status == ACTIVE:
                    changed.append((place, {**pins, kid: pins[kid]._replace(status=REVOKED)}))
            self._write(changed)
        done = {place.receiver for place, _ in changed}
        return Revoked(kid, {one.receiver: REVOKED if one.receiver in done else "unchanged" for one in found})

    def _place(self, receiver: str) -> Place:
        place = place_of(self._home, self._project, receiver)
        if not os.path.isdir(place.agent_directory):
            raise NothingThere(
                f"there is no agent {receiver!r} in project {self._project!r}",
                remedy=f"its agents: {', '.join(self._agents()) or 'none'}",
            )
        return place

    def _agents(self) -> list[str]:
        directory = os.path.join(project_directory(self._home, self._project), "agents")
        with told(directory):
            try:
                names = os.listdir(directory)
            except FileNotFoundError:
                return []
        return sorted(name for name in names if is_agent(name) and os.path.isdir(os.path.join(directory, name)))

    def _catalog(self) -> dict[str, Pin]:
        path = catalog_of(self._home, self._project)
        data = read_small(path)
        try:
            return {} if data is None else parse_catalog(self._form.load(data))
        except Unreadable as error:
            raise Unreadable(f"{path}: {error.message}", remedy="correct it, or put it aside") from None

    def _pins(self, place: Place) -> dict[str, Pin]:
        """Return a receiver's pins for a change: what was changed by others is not signed over."""
        data = read_small(place.pins)
        parts = self._form.split(data or b"")
        proof = verify_policy(place, PINS, parts)
        if proof.status in ("invalid", "unsupported") and (data is not None or is_enrolled(place, PINS)):
            raise Unreadable(f"{place.pins}: {proof.reason}", remedy="look at it, then trust sign-policy")
        try:
            return {} if data is None else parse_pins(self._form.load(parts.prefix))
        except Unreadable as error:
            raise Unreadable(f"{place.pins}: {error.message}", remedy="correct it, or put it aside") from None

    def _write(self, changes: Sequence[tuple[Place, dict[str, Pin]]]) -> None:
        """Write several receivers' pins: all, or none. Files that must be signed are signed again."""
        signed = {place: is_enrolled(place, PINS) or self._is_signed(place) for place, _ in changes}
        for place, must in signed.items():
            if must:
                signing_keys(self._home, place.receiver)
        before = {place: read_small(place.pins) for place, _ in changes}
        try:
            for place, pins in changes:
                data = render_pins(pins.values())
                make_private(os.path.dirname(place.pins))
                if signed[place]:
                    sign_policy(place, self._clock.now(), self._form.split, prepared=data)
                else:
                    put(place.pins, data)
        except RestanteError:
            for place, old in before.items():
                with suppress(RestanteError):
                    _restore(place.pins, old)
            raise

    def _is_signed(self, place: Place) -> bool:
        return self._form.split(read_small(place.pins) or b"").state == "ok"


def _restore(path: str, data: bytes | None) -> None:
    if data is not None:
        put(path, data)
    else:
        with suppress(FileNotFoundError), told(path):
            os.unlink(path)


def _shown(pins: dict[str, Pin]) -> list[dict[str, object]]:
    return [pin.report() for pin in sorted(pins.values(), key=lambda pin: (pin.agent, pin.kid))]


def _known(stub: Stub) -> Pin:
    return Pin(stub.kid, stub.agent, stub.domain, stub.instance, stub.x, created_at_utc=stub.created_at_utc)


def _pinned(stub: Stub) -> Pin:
    return Pin(stub.kid, stub.agent, stub.domain, stub.instance, stub.x, ACTIVE)


def _merged(old: Pin | None, new: Pin, path: str) -> tuple[Pin, str]:
    """Return what stands in a file after a key was brought in: gaps are filled, nothing is replaced."""
    if old is None:
        return new, "added"
    filled = old._replace(domain=old.domain or new.domain, instance=old.instance or new.instance)
    compared = ("agent", "domain", "instance", "x")
    if any(getattr(filled, name) != getattr(new, name) for name in compared):
        raise Refused(f"{path} has another entry under {new.kid}", remedy="look at both before believing either")
    return (filled, "updated") if filled != old else (old, "unchanged")
