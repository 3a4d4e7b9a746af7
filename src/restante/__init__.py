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
    from restante.domain.mailbox import Entry
    from restante.domain.message import Draft, Message, Priority, Reply, Scope
    from restante.domain.receipt import Action, Decision, Receipt
    from restante.office import Office
    from restante.ports import Mailbox
    from restante.wiring import open_office

__all__ = [
    "Action",
    "Case",
    "Decision",
    "Draft",
    "Entry",
    "Mailbox",
    "Message",
    "Office",
    "Priority",
    "Receipt",
    "Reply",
    "RestanteError",
    "Scope",
    "Sent",
    "Snapshot",
    "__version__",
    "open_office",
]

_PLACES = {
    "RestanteError": "restante.domain.errors",
    "Draft": "restante.domain.message",
    "Message": "restante.domain.message",
    "Priority": "restante.domain.message",
    "Reply": "restante.domain.message",
    "Scope": "restante.domain.message",
    "Action": "restante.domain.receipt",
    "Decision": "restante.domain.receipt",
    "Receipt": "restante.domain.receipt",
    "Case": "restante.domain.case",
    "Office": "restante.office",
    "Sent": "restante.domain.case",
    "Snapshot": "restante.domain.case",
    "Entry": "restante.ports",
    "Mailbox": "restante.ports",
    "open_office": "restante.wiring",
}

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
