"""The contract of ``ports.teams``, and of what ``ports.monitoring`` keeps, as tests."""

from __future__ import annotations

from restante.testing.contract.leasing import Leasing
from restante.testing.contract.monitoring import Monitoring
from restante.testing.contract.role_mail import RoleMail


class TeamsContract(Leasing, RoleMail, Monitoring):
    """Every home of teams inherits these tests; see ``TeamsBase`` for what it must supply."""
