"""Key pairs of the agents of this machine: made, listed, read, replaced.

``keys/<trust domain>/<agent>/<instance>/<kid>.json`` holds a private key (0600, directories 0700), ``<kid>.pub.json``
beside it what is given away. Whoever signs, signs with all keys of the agent, the newest first, so that a new key can
be believed before the old one goes.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Busy, NothingThere, Unreadable, Unsafe, UsageError
from restante.system.private import make_private, open_private
from restante.system.signing.encoding import BadAuth, decode_exact, encode
from restante.system.signing.files import locked, put, put_new, read_small, told
from restante.system.signing.jose import (
    MOST_SIGNATURES,
    Signing,
    agent_urn,
    instance_urn,
    is_agent,
    is_kid,
    is_uuid,
)
from restante.system.signing.jwk import KEY_BYTES, derive_x, new_seed, public_jwk, public_x, thumbprint
from restante.system.signing.places import check_agent, keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

_PUBLIC = ".pub.json"
_PRIVATE = ".json"
_RETIRED = ".json.retired"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Listed(NamedTuple):
    """A key pair, without its private half.

    Attributes:
        agent: Whose it is.
        kid: Its name.
        created_at_utc: When it was made.
        key_path: Where the private half lies.
    """

    agent: str
    kid: str
    created_at_utc: str
    key_path: str

    def report(self) -> dict[str, object]:
        """Return it as the command prints it."""
        return self._asdict()


class Made(NamedTuple):
    """A key pair that was just made.

    Attributes:
        listed: The key.
        agent_urn: The agent's full name.
        instance_urn: The installation's full name.
        public_stub_path: What to give to those who shall believe it.
    """

    listed: Listed
    agent_urn: str
    instance_urn: str
    public_stub_path: str

    def report(self) -> dict[str, object]:
        """Return it as the command prints it."""
        return {
            "agent": self.listed.agent,
            "kid": self.listed.kid,
            "agent_urn": self.agent_urn,
            "instance_urn": self.instance_urn,
            "key_path": self.listed.key_path,
            "public_stub_path": self.public_stub_path,
            "created_at_utc": self.listed.created_at_utc,
        }


class Stub(NamedTuple):
    """The public half of a key pair, as it is given away.

    Attributes:
        kid: Its name; the thumbprint of ``x``.
        x: The key.
        agent: Whose it says it is.
        domain: UUID of the home where it was made.
        instance: UUID of the installation.
        created_at_utc: When it was made.
    """

    kid: str
    x: str
    agent: str
    domain: str
    instance: str
    created_at_utc: str


def generate(home: str, agent: str, now: datetime) -> Made:
    """Make a key pair.

    Args:
        home: The OACP home.
        agent: For whom.
        now: The time.

    Raises:
        UsageError: That is no agent's name.
        NoCrypto: The library is missing.
        StorageFailed: It cannot be kept.
    """
    check_agent(agent)
    keys = keys_of(home)
    make_private(home)
    make_private(keys)
    domain, instance = _minted(os.path.join(keys, "trust_domain")), _minted(os.path.join(keys, "instance_id"))
    seed = new_seed()
    x = derive_x(seed)
    kid = thumbprint(x)
    directory = os.path.join(keys, domain, agent, instance)
    make_private(directory)
    created = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    private = {**public_jwk(x), "d": encode(seed), "kid": kid, "agent": agent, "trust_domain": domain}
    private |= {"instance_id": instance, "created_at_utc": created}
    urns = {"agent_urn": agent_urn(domain, agent), "instance_urn": instance_urn(instance)}
    stub = {"kid": kid, "jwk": public_jwk(x), "agent": agent, **urns, "created_at_utc": created}
    path, public = (os.path.join(directory, kid + ending) for ending in (_PRIVATE, _PUBLIC))
    # The stub first: a key that signs and that nobody could be told about would be worse than a stub without a key.
    put(public, _json(stub), mode=0o644)
    put(path, _json(private), mode=0o600)
    return Made(Listed(agent, kid, created, path), **urns, public_stub_path=public)


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _minted(path: str) -> str:
    """Return the UUID in a file, which is made once; two processes agree on one."""
    for _ in range(3):
        if (data := read_small(path)) is not None:
            text = data.decode("ascii", "replace").strip()
            if not is_uuid(text):
                raise Unreadable(f"{path} holds no UUID", remedy="restore it; keys belong to it")
            return text
        import uuid

        put_new(path, str(uuid.uuid4()).encode() + b"\n", mode=0o644)
    raise Busy(f"{path} comes and goes", remedy="try again")


def listed(home: str, agent: str | None = None) -> list[Listed]:
    """Return the key pairs of a home, of all agents or one, the newest first within an agent.

    A file whose name says that it is a key and that cannot be read as one is left out: it cannot sign.

    Raises:
        StorageFailed: The directory cannot be read.
    """
    found = []
    for path in _paths(home, agent, _PRIVATE):
        try:
            value = _mapping(path)
            created = value.get("created_at_utc")
            found.append(Listed(str(value["agent"]), str(value["kid"]), str(created or ""), path))
        except (Unreadable, KeyError):
            continue
    found.sort(key=lambda one: (one.created_at_utc, one.kid), reverse=True)
    found.sort(key=lambda one: one.agent)
    return found


def _paths(home: str, agent: str | None, ending: str) -> Iterator[str]:
    """Give the files of keys: three levels down, in order of names."""
    if agent is not None:
        check_agent(agent)
    keys = keys_of(home)
    for domain in _names(keys):
        for owner in _names(os.path.join(keys, domain)) if is_uuid(domain) else ():
            if agent is None or owner == agent:
                for instance in _names(os.path.join(keys, domain, owner)):
                    directory = os.path.join(keys, domain, owner, instance)
                    for name in _names(directory):
                        if name.endswith(ending) and is_kid(name[: -len(ending)]):
                            yield os.path.join(directory, name)


def _names(directory: str) -> list[str]:
    with told(directory):
        try:
            return sorted(os.listdir(directory))
        except (FileNotFoundError, NotADirectoryError):
            return []


def _mapping(path: str) -> dict[str, object]:
    data = read_small(path)
    if data is None:
        raise Unreadable(f"{path} is gone")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise Unreadable(f"{path} holds no key")
    return value


def signing_keys(home: str, agent: str, kid: str = "") -> list[Signing]:
    """Return what an agent signs with: all of its keys, the newest first, at most eight.

    Args:
        home: The OACP home.
        agent: Who signs.
        kid: Only this key, where one is named.

    Raises:
        NothingThere: There is no key.
        Unsafe: Others can read a key, or the directory in which it lies.
        Unreadable: A key is not what its name says.
    """
    found = [one for one in listed(home, agent) if not kid or one.kid == kid]
    if not found:
        which = f"key {kid} of agent {agent!r}" if kid else f"signing key of agent {agent!r}"
        raise NothingThere(f"no {which} under {keys_of(home)}", remedy=f"restante oacp trust keygen --agent {agent}")
    return [load_key(one.key_path) for one in found[:MOST_SIGNATURES]]


def load_key(path: str) -> Signing:
    """Return a private key, proven to be the one that its name says.

    Raises:
        Unsafe: Others can read it, or the directory in which it lies, or it is another user's.
        Unreadable: It is none, or not the one.
        NoCrypto: The library is missing.
    """
    directory = os.path.dirname(path)
    with told(directory):
        _check_private(directory, os.lstat(directory), "0700")
    with told(path):
        fd = open_private(path, os.O_RDONLY)
        try:
            _check_private(path, os.fstat(fd), "0600")
        finally:
            os.close(fd)
    value = _mapping(path)
    try:
        x = public_x({name: value.get(name) for name in ("kty", "crv", "x")})
        seed = decode_exact(str(value.get("d")), "jwk d")
    except BadAuth as error:
        raise Unreadable(f"{path}: {error.message}") from None
    kid, agent = value.get("kid"), value.get("agent")
    domain, instance = value.get("trust_domain"), value.get("instance_id")
    if len(seed) != KEY_BYTES or derive_x(seed) != x or thumbprint(x) != kid:
        raise Unreadable(f"{path}: private key, public key and name do not belong together", remedy="make a new key")
    if not (is_agent(agent) and is_uuid(domain) and is_uuid(instance)):
        raise Unreadable(f"{path}: it does not say whose it is", remedy="make a new key")
    return Signing(str(kid), seed, str(agent), str(domain), str(instance))


def _check_private(path: str, found: os.stat_result, need: str) -> None:
    mode = stat.S_IMODE(found.st_mode)
    if mode & _OTHERS:
        raise Unsafe(f"{path} can be used by others (mode {mode:04o})", remedy=f"chmod {need} it; require {need}")
    if found.st_uid != os.geteuid():
        raise Unsafe(f"{path} belongs to another user", remedy="make a key of your own")


def rotate(home: str, agent: str, now: datetime) -> Made:
    """Make a new key beside those that an agent has; mail is signed with both until ``retire`` takes one away.

    Raises:
        NothingThere: There is nothing to replace yet.
    """
    if not listed(home, agent):
        raise NothingThere(f"agent {agent!r} has no key to replace", remedy=f"trust keygen --agent {agent}")
    return generate(home, agent, now)


def retire(home: str, agent: str, kid: str) -> str:
    """Let a key sign no more; return where it is kept. The stub stays, so that what it signed can be told.

    Raises:
        NothingThere: There is no such key.
        UsageError: It is the agent's only one.
    """
    keys = keys_of(home)
    with locked(os.path.join(keys, "retire.lock")):
        found = listed(home, agent)
        paths = [one.key_path for one in found if one.kid == kid]
        if not paths:
            raise NothingThere(f"agent {agent!r} has no key {kid!r:.80}")
        if len(found) == len(paths):
            raise UsageError(f"{kid} is the only key of {agent!r}", remedy="make a new one first")
        target = paths[0].removesuffix(_PRIVATE) + _RETIRED
        with told(paths[0]):
            os.rename(paths[0], target)
    return target


def read_stub(path: str) -> Stub:
    """Return the public half of a key pair from the file that somebody gave away.

    Raises:
        NothingThere: There is no such file.
        Unreadable: It holds no public key, or a private one.
    """
    if read_small(path) is None:
        raise NothingThere(f"{path}: no such file")
    return parse_stub(_mapping(path), path)


def parse_stub(value: dict[str, object], where: str) -> Stub:
    """Return the public half of a key pair.

    Raises:
        Unreadable: It is none, or holds a private one.
    """
    if "d" in value:
        raise Unreadable(f"{where} is a private key", remedy=f"keep it; give away the file {_PUBLIC}")
    try:
        x = public_x(value.get("jwk"))
    except BadAuth as error:
        raise Unreadable(f"{where}: {error.message}") from None
    kid, agent = value.get("kid"), value.get("agent")
    if kid != thumbprint(x):
        raise Unreadable(f"{where}: kid is not the thumbprint of its key")
    if not isinstance(agent, str) or not is_agent(agent):
        raise Unreadable(f"{where}: {agent!r:.80} is no agent's name")
    full, instance = value.get("agent_urn"), str(value.get("instance_urn"))
    domain = str(full)[len("urn:oacp:agent:") : -len(agent) - 1]
    if full != agent_urn(domain, agent) or not is_uuid(domain):
        raise Unreadable(f"{where}: agent_urn {full!r:.120} is not the full name of {agent!r}")
    instance = instance.removeprefix("urn:uuid:")
    if not is_uuid(instance):
        raise Unreadable(f"{where}: instance_urn is no UUID")
    return Stub(str(kid), x, agent, domain, instance, str(value.get("created_at_utc") or ""))


def stubs_of(home: str, agent: str) -> dict[str, Stub]:
    """Return the public halves that this home keeps of an agent's keys, by name; broken ones are left out."""
    found = {}
    for path in _paths(home, agent, _PUBLIC):
        try:
            stub = read_stub(path)
        except (Unreadable, NothingThere):
            continue
        if stub.agent == agent and os.path.basename(path) == stub.kid + _PUBLIC:
            found[stub.kid] = stub
    return found
