"""Which project and which agent of an OACP tree a command is about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import UsageError

if TYPE_CHECKING:
    from restante.intake import Intake


def home_of(directory: str) -> str:
    """Return the OACP home: ``OACP_HOME``, else the one that is marked here, else ``~/oacp``."""
    from restante.wiring.oacp import home_of as find

    return find("", os.environ, directory)


def project_of(given: str | None, directory: str) -> str:
    """Return the project that is meant.

    Raises:
        UsageError: It is not named, and nothing here marks one.
    """
    if given:
        return given
    from restante.wiring.oacp import project_of as marked
    from restante.wiring.oacp import projects_of

    found = marked(home_of(directory), directory)
    if found:
        return found
    known = projects_of(home_of(directory))
    listed = f"one of: {', '.join(known[:10])}" if known else "there is none yet: restante oacp init NAME"
    raise UsageError("no project is named, and neither .oacp nor workspace.json is here", remedy=f"--project, {listed}")


def agent_of(given: str | None) -> str:
    """Return the agent that is meant.

    Raises:
        UsageError: It is not named, and nothing in the environment says.
    """
    from restante.wiring.oacp import agent_of as found

    return given or found(os.environ)


def intake_of(project: str | None, agent: str | None, directory: str) -> Intake:
    """Open the intake of the agent that is meant."""
    from restante.wiring.intake import open_intake

    return open_intake(
        project_of(project, directory), agent_of(agent), os.environ, home=home_of(directory), directory=directory
    )
