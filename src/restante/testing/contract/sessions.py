"""The contract of ``ports.sessions.Sessions`` and ``ports.sessions.Boxes``, as tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.testing.contract.joining import Joining
from restante.testing.contract.overseeing import Overseeing
from restante.testing.contract.registering import Registering

if TYPE_CHECKING:
    from pathlib import Path


class SessionsContract(Registering, Overseeing, Joining):
    """Every home of sessions and their mail inherits these tests; see ``SessionsBase`` for what it must supply."""

    def test_any_history_gives_what_the_model_gives(self, tmp_path: Path) -> None:
        """The register equals a dictionary after any steps, alone or together, undone or not."""
        from hypothesis.stateful import run_state_machine_as_test

        from restante.testing.register import register_machine

        run_state_machine_as_test(register_machine(self, tmp_path))
