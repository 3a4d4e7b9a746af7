"""What the verbs of OACP ask of a tree: mail, keys, signatures, projects."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError
from restante.stores.oacp.layout import find_home
from restante.system.clock import FixedClock, clock_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from restante.ports import Clock

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def home_of(given: str, environment: Mapping[str, str], directory: str = ".") -> str:
    """Return the home that is meant: named, else ``OACP_HOME``, else marked, else ``~/oacp``."""
    return find_home(directory, environment, given)


def clock_of(environment: Mapping[str, str]) -> Clock:
    """Return the clock that a process goes by."""
    return clock_for(environment)


def fixed_clock(text: str) -> Clock:
    """Return a clock that stands at a time; one without a zone is UTC.

    Raises:
        UsageError: It is no ISO 8601 time.
    """
    try:
        at = datetime.fromisoformat(text)
        return FixedClock(at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC))
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is no time", remedy="write 2026-05-20T15:30:00Z") from None


def project_of(home: str, directory: str, message: str = "") -> str:
    """Return the project that is meant: the one in which a message lies, else the one that is marked here.

    Returns:
        Its name, empty where nothing says.
    """
    from restante.stores.oacp.layout import find_workspace, named_project
    from restante.wiring.intake import receiver_at

    place = receiver_at(message, home) if message else None
    if place is not None:
        return place.project
    marked = find_workspace(directory)
    return named_project(directory) or (marked.project if marked else "")


def agent_of(environment: Mapping[str, str]) -> str:
    """Return which agent this process is.

    Raises:
        UsageError: Nothing says.
    """
    from restante.wiring.mailing import runtime_of

    found = environment.get("OACP_AGENT") or environment.get("AGENT_NAME") or runtime_of(environment)
    if not found:
        raise UsageError("cannot tell which agent is meant", remedy="--agent, or OACP_AGENT")
    return found


def make_key(home: str, agent: str, clock: Clock) -> dict[str, object]:
    """Make a key pair; see ``system.signing.keys.generate``."""
    from restante.system.signing.keys import generate

    return generate(home, agent, clock.now()).report()


def list_keys(home: str, agent: str | None) -> list[dict[str, object]]:
    """Return the key pairs of this machine, without what is secret."""
    from restante.system.signing.keys import listed

    return [one.report() for one in listed(home, agent)]


def retire_key(home: str, agent: str, kid: str) -> str:
    """Let a key sign no more; see ``system.signing.keys.retire``."""
    from restante.system.signing.keys import retire

    return retire(home, agent, kid)


def sign_policies(home: str, project: str, agent: str, kid: str, clock: Clock) -> list[dict[str, object]]:
    """Sign an agent's policy files; see ``system.signing.policy.sign_policy``."""
    from restante.stores.oacp.trailer import split_trailer
    from restante.system.signing.places import place_of
    from restante.system.signing.policy import sign_policy

    place = place_of(home, project, agent)
    return [one.report() for one in sign_policy(place, clock.now(), split_trailer, kid=kid)]


def pin_script(
    home: str, project: str, agent: str, script: str, env: Sequence[str], kid: str, clock: Clock
) -> list[dict[str, object]]:
    """Pin a script in an agent's policy, by what it is now; in those of all projects where none is named.

    Raises:
        NothingThere: There is no such script, project or policy.
        Refused: A policy cannot be changed, or is not what was signed.
    """
    import hashlib

    from restante.domain.errors import NothingThere, Refused
    from restante.stores.oacp.layout import Tree
    from restante.stores.oacp.scripts import Pinned, pin_script
    from restante.stores.oacp.trailer import split_trailer
    from restante.system.signing.places import place_of
    from restante.system.signing.policy import CONFIG, change_config, is_enrolled

    if not script.startswith(("/", "~/")):
        raise Refused("script path must be absolute or ~/-rooted (as the pin records it)")
    try:
        with open(os.path.expanduser(script), "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NothingThere(f"script not found: {script} ({error.strerror})") from None
    tree = Tree(home)
    if project:
        tree.check_agent(project, agent)
    places = [place_of(home, one, agent) for one in ([project] if project else tree.projects())]
    found = [place for place in places if project or os.path.isfile(place.config)]
    if not found:
        raise NothingThere(f"no project under {home} has a policy of {agent}")
    done: list[dict[str, object]] = []
    for place in found:
        made: list[Pinned] = []

        def edit(text: bytes, made: list[Pinned] = made) -> bytes:
            made.append(pin_script(text, script, digest, env))
            return made[0].text

        kids = change_config(place, clock.now(), split_trailer, edit, kid=kid)
        shown = {"project": place.project, "path": place.config, "script": script, "sha256": digest, "env": list(env)}
        counted = {"outcome": made[0].outcome, "pins": made[0].total, "signed": bool(kids)}
        proven = {"enrolled": is_enrolled(place, CONFIG), **({"signer_kids": list(kids)} if kids else {})}
        done.append({**shown, **counted, **proven})
    return done


def projects_of(home: str) -> list[str]:
    """Return the projects of a tree."""
    from restante.stores.oacp.layout import Tree

    return Tree(home).projects()


def find_file(home: str, project: str, agent: str, reference: str) -> str:
    """Return the name of the file of a message that waits: by its path, its name or its id.

    Raises:
        NoSuchMessage: None waits under it.
    """
    from restante.domain.errors import NoSuchMessage
    from restante.wiring.mailing import Mail

    if os.sep in reference or reference.endswith(".yaml"):
        return reference
    rows = Mail(home, project, FixedClock(_EPOCH)).waiting(agent).rows
    found = [one.name for one in rows if one.id == reference]
    near = found or [one.name for one in rows if len(reference) >= 6 and one.id and reference in one.id]
    if len(near) == 1:
        return near[0]
    raise NoSuchMessage(
        f"{len(near) or 'no'} messages wait for {agent} under {reference!r:.120}",
        remedy=f"oacp inbox {project} --agent {agent}",
    )


def agents_of(home: str, project: str) -> list[str]:
    """Return the agents of a project."""
    from restante.stores.oacp.layout import Tree

    return Tree(home).agents(project)
