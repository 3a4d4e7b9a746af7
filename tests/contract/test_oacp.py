"""The OACP home keeps the contract, as far as the format of others can hold what a draft says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.oacp import make_tree

from restante.stores.oacp.layout import Tree
from restante.stores.oacp.store import OacpMailbox
from restante.testing import FakeClock, MailboxContract

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.limits import Limits
    from restante.domain.message import Message
    from restante.ports import Mailbox


class TestOacp(MailboxContract):
    def make_mailbox(self, tmp_path: Path, clock: FakeClock, limits: Limits) -> OacpMailbox:
        make_tree(tmp_path, "demo", "codex", "reviewer", "root")
        return OacpMailbox(Tree(str(tmp_path)), "demo", "codex", clock=clock, ids=self.ids, limits=limits)

    def holds(self, body: str) -> bool:
        return bool(body.strip()) and len(body) <= 20_000

    def is_message_id(self, text: str) -> bool:
        return re.fullmatch(r"msg-[0-9]{14}-[a-z]+-[0-9a-f]{16}", text) is not None

    def conversation_of(self, parent: Message) -> str:
        return parent.conversation

    def archive_of(self, mailbox: Mailbox) -> OacpMailbox:
        assert isinstance(mailbox, OacpMailbox)
        return mailbox
