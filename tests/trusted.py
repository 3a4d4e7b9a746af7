"""A home with keys, pins and signed mail, for tests of whose mail counts."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import yaml
from tests.autonomy.fixtures import ROOT
from tests.oacp import make_tree

from restante.stores.oacp.trailer import split_trailer
from restante.system.signing import keys
from restante.system.signing.desk import AgentSigner, ReceiverDesk
from restante.system.signing.encoding import decode
from restante.system.signing.jose import MESSAGE, Signing, seal, trailer_line
from restante.system.signing.places import Place
from restante.system.signing.trust import Trust
from restante.testing.fakes import FakeClock
from restante.wiring.trusting import FORM

if TYPE_CHECKING:
    from pathlib import Path

    from restante.system.signing.keys import Made

SIGNING = ROOT / "signing"
AT = datetime(2026, 10, 1, 12, tzinfo=UTC)
ENFORCE = "signing:\n  verify_mode: enforce\n"


class TrustedHome:
    """A home with project ``demo``: alice writes, dave and carl receive."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = FakeClock(AT)
        make_tree(root, "demo", "alice", "dave", "carl")

    @property
    def path(self) -> str:
        return str(self.root)

    def agent(self, name: str = "dave", project: str = "demo") -> Path:
        return self.root / "projects" / project / "agents" / name

    def place(self, receiver: str = "dave", project: str = "demo") -> Place:
        return Place(self.path, project, receiver)

    def key(self, agent: str = "alice") -> Made:
        return keys.generate(self.path, agent, self.clock.now())

    def trust(self, project: str = "demo") -> Trust:
        return Trust(self.path, project, FORM, self.clock)

    def trusting(self, receiver: str = "dave", project: str = "demo", config: str = ENFORCE) -> Made:
        """Let a receiver believe a new key of alice's."""
        made = self.key()
        self.trust(project).add(made.public_stub_path, receiver)
        self.configure(config, receiver, project)
        return made

    def configure(self, text: str, receiver: str = "dave", project: str = "demo") -> Path:
        path = self.agent(receiver, project) / "config.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def desk(self, receiver: str = "dave", project: str = "demo") -> ReceiverDesk:
        return ReceiverDesk(self.place(receiver, project), FORM, self.clock)

    def signed(self, raw: bytes | None = None, agent: str = "alice") -> bytes:
        return AgentSigner(self.path, agent, split_trailer).sign(letter() if raw is None else raw)

    def deliver(self, raw: bytes, receiver: str = "dave", project: str = "demo", name: str = "") -> Path:
        name = name or "20261001120000_alice_notification_0a1b.yaml"
        for place in (self.agent(receiver, project) / "inbox", self.agent("alice", project) / "outbox"):
            (place / name).write_bytes(raw)
        return self.agent(receiver, project) / "inbox" / name


def letter(**fields: str) -> bytes:
    """Return a message of alice's to dave."""
    plain = {
        "id": "msg-20261001120000-alice-0001",
        "from": "alice",
        "to": "dave",
        "type": "notification",
        "priority": "P2",
        "created_at_utc": '"2026-10-01T12:00:00Z"',
        "subject": "a word",
        "body": "what there is to say",
        **fields,
    }
    return "".join(f"{name}: {value}\n" for name, value in plain.items()).encode()


def published_key(agent: str) -> Signing:
    """Return a private key that was published with the fixtures."""
    value = json.loads((SIGNING / "keys" / f"{agent}.json").read_text(encoding="utf-8"))
    return Signing(value["kid"], decode(value["d"]), agent, value["trust_domain"], value["instance_id"])


def sign_as_published(prefix: bytes, *agents: str) -> bytes:
    """Return a message signed with published keys."""
    return prefix + trailer_line(seal(prefix, [published_key(agent) for agent in agents], MESSAGE))


def mode_of(path: str | Path) -> int:
    """Return a file's permissions."""
    return os.stat(path).st_mode & 0o777


def published_cases(folder: Path) -> list[Path]:
    """Return the case files of a corpus; none where the fixtures are absent."""
    return sorted(folder.glob("*.yaml"))


def read_yaml(path: Path) -> Any:
    """Return a file's YAML."""
    # By the C parser: the tests read thousands of files.
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
