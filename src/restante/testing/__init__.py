"""What users' tests, and homes of others, need: a mailbox in memory, a clock to set, factories, the contract.

A home of your own joins the contract in a few lines (pytest and hypothesis must be installed)::

    class TestShelf(MailboxContract):
        def make_mailbox(self, tmp_path, clock, limits):
            return ShelfMailbox(tmp_path / "shelf", clock, self.ids, limits)
"""

from __future__ import annotations

# What type checkers take for true; importing it from ``typing`` would cost more than all else here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from restante.stores.memory import MemoryMailbox
    from restante.testing.contract import MailboxContract
    from restante.testing.contract.sessions import SessionsContract
    from restante.testing.contract.sharing import SharingContract
    from restante.testing.contract.teams import TeamsContract
    from restante.testing.fakes import TRICKY_TEXTS, FakeClock, SequentialIds, make_draft, make_message
    from restante.testing.leases import lease_machine
    from restante.testing.machine import mailbox_machine
    from restante.testing.register import register_machine

__all__ = [
    "TRICKY_TEXTS",
    "FakeClock",
    "MailboxContract",
    "MemoryMailbox",
    "SequentialIds",
    "SessionsContract",
    "SharingContract",
    "TeamsContract",
    "lease_machine",
    "mailbox_machine",
    "make_draft",
    "make_message",
    "register_machine",
]

_HOMES = {
    "MailboxContract": "restante.testing.contract",
    "MemoryMailbox": "restante.stores.memory",
    "SessionsContract": "restante.testing.contract.sessions",
    "SharingContract": "restante.testing.contract.sharing",
    "TeamsContract": "restante.testing.contract.teams",
    "lease_machine": "restante.testing.leases",
    "mailbox_machine": "restante.testing.machine",
    "register_machine": "restante.testing.register",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "restante.testing.fakes")), name)
