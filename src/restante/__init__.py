"""A mailbox for coding agents: leave guidance, let the agent collect it at its next safe checkpoint.

The names below are resolved when they are first used (PEP 562), so that importing one part of the package
costs only that part.
"""

from __future__ import annotations

# What type checkers take for true; importing it from ``typing`` would cost more than all else here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from restante.domain.case import Case, Sent, Snapshot
    from restante.domain.errors import RestanteError
    from restante.domain.lifecycle import Standing, Status
    from restante.domain.mailbox import Acknowledgement, Change, Changes, Counts, Entry, Posted
    from restante.domain.message import Draft, Message, Priority, Reply, Scope, Sender
    from restante.domain.receipt import Action, Decision, Receipt
    from restante.office import Office
    from restante.ports import Mailbox
    from restante.wiring import open_mailbox, open_office

__all__ = [
    "Acknowledgement",
    "Action",
    "Case",
    "Change",
    "Changes",
    "Counts",
    "Decision",
    "Draft",
    "Entry",
    "Mailbox",
    "Message",
    "Office",
    "Posted",
    "Priority",
    "Receipt",
    "Reply",
    "RestanteError",
    "Scope",
    "Sender",
    "Sent",
    "Snapshot",
    "Standing",
    "Status",
    "__version__",
    "open_mailbox",
    "open_office",
]

_PLACES = {
    "Acknowledgement": "restante.domain.mailbox",
    "Action": "restante.domain.receipt",
    "Case": "restante.domain.case",
    "Change": "restante.domain.mailbox",
    "Changes": "restante.domain.mailbox",
    "Counts": "restante.domain.mailbox",
    "Decision": "restante.domain.receipt",
    "Draft": "restante.domain.message",
    "Entry": "restante.domain.mailbox",
    "Mailbox": "restante.ports",
    "Message": "restante.domain.message",
    "Office": "restante.office",
    "Posted": "restante.domain.mailbox",
    "Priority": "restante.domain.message",
    "Receipt": "restante.domain.receipt",
    "Reply": "restante.domain.message",
    "RestanteError": "restante.domain.errors",
    "Scope": "restante.domain.message",
    "Sender": "restante.domain.message",
    "Sent": "restante.domain.case",
    "Snapshot": "restante.domain.case",
    "Standing": "restante.domain.lifecycle",
    "Status": "restante.domain.lifecycle",
    "open_mailbox": "restante.wiring",
    "open_office": "restante.wiring",
}

__version__ = "0.1.0"


# Not for type checkers, who would take any name for one of ours.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_PLACES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
