"""What the mailbox needs of a database: transactions in which it runs named statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from restante.stores.sql.rows import Row


class Transaction(Protocol):
    """A transaction. Its statements are those of queries.sql, by name."""

    @property
    def memory(self) -> dict[object, Any]:
        """What was read in this state of the database, for who reads it again; emptied when anybody writes.

        Where a database does not tell whether anybody did, nothing stays in it.
        """

    def keep(self) -> None:
        """Say that this writer left what is remembered as it is true after it: it is not emptied on its account."""

    def all(self, statement: str, **values: object) -> list[Row]:
        """Run a statement and return its rows."""

    def one(self, statement: str, **values: object) -> Row | None:
        """Run a statement and return its first row."""

    def do(self, statement: str, **values: object) -> int:
        """Run a statement and return how many rows it changed."""

    def be_sure(self) -> None:
        """Say that nothing is left to check: should this step fail all the same, its group fails with it."""

    def later(self, statement: str, key: object = None, **values: object) -> None:
        """Run a statement whose answer nobody waits for: a group may do so with all of its kind at once.

        It is done before anything else is asked. Before ``be_sure`` it is done now.

        Args:
            statement: The statement.
            key: It takes the place of one under the same key that was not done yet.
            **values: Its values.
        """

    def hold(self, counter: str) -> None:
        """Keep other writers that use a counter out until the end, before any other row is locked.

        Where writers are alone anyway there is nothing to do.
        """


class Database(Protocol):
    """A database. What leaves the blocks below is only ever an error of ``domain.errors``."""

    def reading(self) -> AbstractContextManager[Transaction | None]:
        """Read one consistent state; ``None`` when there is no database. Creates nothing.

        Raises:
            StorageFailed: It cannot be read.
            Busy: It was locked for longer than we wait.
        """

    def writing(self, *, create: bool = False) -> AbstractContextManager[Transaction | None]:
        """Write, alone; it is durable when the block was left without an error, and undone otherwise.

        Args:
            create: Whether to make the database where there is none; else ``None`` is given then.

        Raises:
            StorageFailed: It cannot be written; nothing was changed.
            Busy: It was locked for longer than we wait; nothing was changed.
        """

    def lightly(self) -> AbstractContextManager[None]:
        """Write in the block what may be lost with the machine's power; other processes see it all the same."""

    def recall(self, key: object) -> Any:  # noqa: ANN401  whatever was put under the key
        """Return what the thread's group would find in memory if it read now; ``None`` where nothing is."""

    def write_now(self) -> None:
        """Do now what this thread's group put off; see ``Transaction.later``. Without a group there is nothing.

        Raises:
            StorageFailed: It could not be written, and all of the group is undone.
        """

    def together(self, *, at_once: bool = False) -> AbstractContextManager[None]:
        """Make everything that this thread writes in the block durable at once, when it ends.

        Each block of ``writing`` within is a step: one that fails is undone alone. Reading within sees the steps
        before it. An error on leaving undoes every step. Blocks within a block are part of it.

        Args:
            at_once: Give up at once, within the block, where another process would have to be waited for. Whoever
                leaves the block may do so in another thread.

        Raises:
            StorageFailed: It could not be made durable; nothing was changed.
            Busy: It was locked for longer than we wait; nothing was changed.
        """
