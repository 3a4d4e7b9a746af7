"""Where keys and trust lie in an OACP home."""

from __future__ import annotations

import os
from typing import NamedTuple

from restante.domain.errors import UsageError
from restante.system.signing.jose import is_agent


class Place(NamedTuple):
    """One receiver of one project.

    Attributes:
        home: The OACP home.
        project: The project's name.
        receiver: The receiving agent's name.
    """

    home: str
    project: str
    receiver: str

    @property
    def agent_directory(self) -> str:
        """Everything of this receiver."""
        return os.path.join(self.home, "projects", self.project, "agents", self.receiver)

    @property
    def config(self) -> str:
        """The receiver's policy."""
        return os.path.join(self.agent_directory, "config.yaml")

    @property
    def pins(self) -> str:
        """Whose signatures this receiver believes."""
        return os.path.join(self.agent_directory, "trust", "allowed_signers.yaml")

    @property
    def catalog(self) -> str:
        """Whose keys the project knows; believing them is another matter."""
        return catalog_of(self.home, self.project)


def place_of(home: str, project: str, receiver: str) -> Place:
    """Return a receiver's place.

    Raises:
        UsageError: A name would lead out of the tree.
    """
    check_project(project)
    check_agent(receiver)
    return Place(home, project, receiver)


def check_project(project: str) -> None:
    """Raise where a name is no project's.

    Raises:
        UsageError: It is empty, begins with a dot, or has a separator in it.
    """
    if not project or project[0] == "." or set("/\\\0") & set(project):
        raise UsageError(f"{project!r:.80} is no name of a project", remedy="no leading dot, no slash")


def check_agent(name: str) -> None:
    """Raise where a name is no agent's.

    Raises:
        UsageError: It has not the form of one.
    """
    if not is_agent(name):
        raise UsageError(
            f"{name!r:.80} is no name of an agent", remedy="1 to 64 of A-Z a-z 0-9 . _ -, a letter or digit first"
        )


def project_directory(home: str, project: str) -> str:
    """Return a project's directory."""
    return os.path.join(home, "projects", project)


def catalog_of(home: str, project: str) -> str:
    """Return the path of a project's catalog."""
    return os.path.join(project_directory(home, project), "trust", "catalog.yaml")


def keys_of(home: str) -> str:
    """Return the directory of the keys of a home; it is never shared with another machine."""
    return os.path.join(home, "keys")


def enrollment_of(home: str) -> str:
    """Return the register of policy files that must be signed."""
    return os.path.join(keys_of(home), "policy_enrollment.json")
