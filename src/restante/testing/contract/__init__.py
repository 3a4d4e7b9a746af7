"""The contract of ``ports.Mailbox``, as tests: one for every sentence that its docstrings promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.testing.contract.answering import Answering
from restante.testing.contract.base import ContractBase, refused_with, say
from restante.testing.contract.ending import Ending
from restante.testing.contract.following import Following
from restante.testing.contract.posting import Posting
from restante.testing.contract.reading import Reading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ContractBase", "MailboxContract", "refused_with", "say"]


class MailboxContract(Posting, Reading, Answering, Ending, Following):
    """Every home inherits these tests; see ``ContractBase`` for what it must supply.

    Call ``pytest.register_assert_rewrite("restante.testing")`` in ``conftest.py`` to see both sides of
    a failed comparison.
    """

    def test_any_history_gives_what_the_twin_gives(self, tmp_path: Path) -> None:
        """Entries, standings and counts equal the model's after any steps."""
        from hypothesis.stateful import run_state_machine_as_test

        from restante.testing.machine import mailbox_machine

        run_state_machine_as_test(mailbox_machine(self, tmp_path))
