"""How a caller of this machine gets a roster: teams, their roles and the mail of those.

It lies beside the register of sessions, and is made of the same parts: see ``sessions``.
"""

from __future__ import annotations

from restante.wiring.sessions import SessionParts as TeamParts
from restante.wiring.sessions import open_local_roster, open_roster

__all__ = ["TeamParts", "open_local_roster", "open_roster"]
