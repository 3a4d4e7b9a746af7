"""``trust``: keys of this machine, keys of others, signed policies. ``key`` is its name in 0.4.3."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError, UsageError
from restante.faces.oacp.ends import FAILED, USAGE, Flags, Verbs, clock, fail, home_of, say, say_json

if TYPE_CHECKING:
    from collections.abc import Callable


def trust(words: list[str]) -> int:
    """Run a word of ``trust``."""
    acts: dict[str, Callable[[list[str]], int]] = {
        "keygen": keygen,
        "keys": keys,
        "import": bring_in,
        "list": listed,
        "revoke": revoke,
        "sign-policy": sign_policy,
        "retire": retire,
        "pin-script": pin_script,
    }

    def guarded(act: Callable[[list[str]], int]) -> Callable[[list[str]], int]:
        def run(rest: list[str]) -> int:
            try:
                return act(rest)
            except RestanteError as error:
                return fail(error, code=USAGE if isinstance(error, UsageError) else FAILED)

        return run

    return Verbs("trust", {name: guarded(act) for name, act in acts.items()}).run(words)


def keygen(words: list[str]) -> int:
    """Make a key pair for an agent."""
    flags = Flags("trust keygen", "Make a key pair. Mail is signed with all keys of the agent.")
    flags.add_argument("--agent", default="")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.oacp import agent_of, make_key

    made = make_key(home_of(given.oacp_dir), given.agent or agent_of(os.environ), clock())
    if given.json:
        say_json(made)
        return 0
    say(f"OK: generated Ed25519 key for {made['agent']}")
    for label, name in (
        ("kid", "kid"),
        ("agent", "agent_urn"),
        ("instance", "instance_urn"),
        ("key", "key_path"),
        ("stub", "public_stub_path"),
    ):
        say(f"  {label + ':':<9} {made[name]}")
    return 0


def keys(words: list[str]) -> int:
    """List the key pairs of this machine."""
    flags = Flags("trust keys", "List the key pairs of this machine.")
    flags.add_argument("--agent")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.oacp import list_keys

    found = list_keys(home_of(given.oacp_dir), given.agent)
    if given.json:
        say_json(found)
    elif not found:
        say("No keys.")
    else:
        for one in found:
            say(f"{one['agent']}  {one['kid']}  {one['created_at_utc']}  {one['key_path']}")
    return 0


def retire(words: list[str]) -> int:
    """Let one of several keys of an agent sign no more."""
    flags = Flags("trust retire", "Let one of several keys of an agent sign no more.")
    flags.add_argument("kid")
    flags.add_argument("--agent", required=True)
    flags.home()
    given = flags.parse_args(_kid_first(words))
    from restante.wiring.oacp import retire_key

    say(f"OK: retired {given.kid}: {retire_key(home_of(given.oacp_dir), given.agent, given.kid)}")
    return 0


def bring_in(words: list[str]) -> int:
    """Bring in the public key that somebody gave away."""
    flags = Flags("trust import", "Bring in a public key.")
    flags.add_argument("stub")
    flags.add_argument("--project", required=True)
    flags.add_argument("--agent", default="", help="who shall believe it")
    flags.add_argument("--catalog-only", action="store_true", help="only note that it exists; nobody believes it")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    if bool(given.agent) == given.catalog_only:
        flags.error("give --agent, or --catalog-only")
    from restante.wiring.trusting import trust_of

    done = trust_of(home_of(given.oacp_dir), given.project, clock()).add(given.stub, given.agent)
    if given.json:
        say_json(done.report())
        return 0
    say(f"OK: imported {done.kid} ({done.agent})")
    say(f"  catalog: {done.catalog}  {done.catalog_path}")
    say(f"  pins:    {done.pins}  {done.pins_path}".rstrip())
    return 0


def listed(words: list[str]) -> int:
    """List the keys that a project knows and that its agents believe."""
    flags = Flags("trust list", "List the keys that a project knows, and that its agents believe.")
    flags.add_argument("--project", default="")
    flags.add_argument("--agent", default="")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    if not given.project:
        flags.error("the following arguments are required: --project")
    from restante.wiring.trusting import trust_of

    found = trust_of(home_of(given.oacp_dir), given.project, clock()).listed(given.agent)
    if given.json:
        say_json(found)
        return 0
    catalog, pins = found["catalog"], found["pins"]
    assert isinstance(catalog, list)
    assert isinstance(pins, dict)
    say(f"Catalog ({len(catalog)} identities):")
    for one in catalog:
        say(f"  {one['agent']}  {one['kid']}")
    for receiver, entries in pins.items():
        say(f"Pins — {receiver} ({len(entries)}):")
        for one in entries:
            say(f"  {one['agent']}  {one['kid']}  {one['status']}")
    return 0


def revoke(words: list[str]) -> int:
    """Believe a key no more."""
    flags = Flags("trust revoke", "Believe a key no more.")
    flags.add_argument("kid")
    flags.add_argument("--project", required=True)
    flags.add_argument("--agent", default="")
    flags.add_argument("--all-receivers", action="store_true")
    flags.home()
    flags.json()
    given = flags.parse_args(_kid_first(words))
    if bool(given.agent) == given.all_receivers:
        flags.error("give --agent, or --all-receivers")
    from restante.wiring.trusting import trust_of

    done = trust_of(home_of(given.oacp_dir), given.project, clock()).revoke(given.kid, given.agent)
    if given.json:
        say_json(done.report())
    else:
        for receiver, what in done.receivers.items():
            say(f"OK: {given.kid} at {receiver}: {what}")
    return 0


def _kid_first(words: list[str]) -> list[str]:
    """Let a key's name that begins with a dash, as one in 64 does, be no flag."""
    is_kid = [len(word) == 43 and word.startswith("-") for word in words]
    if "--" in words or True not in is_kid:
        return words
    place = is_kid.index(True)
    return [*words[:place], *words[place + 1 :], "--", words[place]]


def sign_policy(words: list[str]) -> int:
    """Sign an agent's policy files."""
    flags = Flags("trust sign-policy", "Sign an agent's policy files; from then on they count only with a signature.")
    flags.add_argument("--project", required=True)
    flags.add_argument("--agent", required=True)
    flags.add_argument("--kid", default="")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    from restante.wiring.oacp import sign_policies

    done = sign_policies(home_of(given.oacp_dir), given.project, given.agent, given.kid, clock())
    if given.json:
        say_json(done)
        return 0
    for one in done:
        say(f"OK: signed {one['path']}")
        kids = one["signer_kids"]
        assert isinstance(kids, list)
        for kid in kids:
            say(f"  kid: {kid}")
    return 0


def pin_script(words: list[str]) -> int:
    """Pin a script that running tasks may call."""
    flags = Flags("trust pin-script", "Pin a script that a running task may call, by what it is now.")
    flags.add_argument("script", help="absolute, or from ~; pinned as it is written")
    flags.add_argument("--project", default="")
    flags.add_argument("--all-projects", action="store_true", help="every project where the agent has a policy")
    flags.add_argument("--agent", required=True)
    flags.add_argument("--env", action="append", default=[], metavar="NAME", help="a variable that a caller may set")
    flags.add_argument("--kid", default="", help="only this key signs")
    flags.home()
    flags.json()
    given = flags.parse_args(words)
    if bool(given.project) == given.all_projects:
        flags.error("give --project, or --all-projects")
    from restante.wiring.oacp import pin_script as pin

    home = home_of(given.oacp_dir)
    done = pin(home, given.project, given.agent, given.script, given.env, given.kid, clock())
    if given.json:
        say_json(done)
        return 0
    for one in done:
        how = "signed" if one["signed"] else "unsigned (oacp trust keygen, then sign-policy)"
        say(f"OK: {one['project']}: {one['outcome']} pin for {one['script']} ({one['pins']} pin(s), {how})")
        say(f"  config: {one['path']}")
    return 0
