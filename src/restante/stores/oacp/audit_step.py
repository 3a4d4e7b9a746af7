"""A new audit record and the ends of those it replaces, as one step: all of it, or nothing.

Where several files change, the step is written down before it begins. A writer that fails takes it back; for one that
was killed, whoever comes next ends it: the new record is there, so the old ones are closed, or it never happened.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Damaged, Refused, RestanteError, Unsafe
from restante.stores.files import FILE_MODE, failure, flocked, remove, replace
from restante.stores.oacp.audit_file import check_name, parse_record, render_record
from restante.stores.oacp.audit_index import PENDING
from restante.stores.oacp.reading import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from restante.autonomy.succession import Succession
    from restante.stores.oacp.directory import Directory

WAIT_SECONDS = 30.0
# Every replaced record stands in it twice.
_MOST_PLAN = 64 * MOST_BYTES


@contextmanager
def written(folder: Directory, name: str, step: Succession, raws: Mapping[str, bytes], pending: str) -> Iterator[None]:
    """Write a step, run the block, and only then be done with it; a failure anywhere takes everything back.

    The caller holds the locks of the message and of every record.

    Args:
        folder: Where the records lie.
        name: The new record's file.
        step: What is to be written.
        raws: The replaced records as they are.
        pending: What the step is called while it is under way.

    Raises:
        Refused: The file is there already.
        StorageFailed: Nothing was changed.
    """
    closed = {one: render_record(record) for one, record in step.closed.items()}
    data = render_record(step.record)
    is_ours = False
    try:
        if closed:
            plan = {one: [raws[one].decode(), raw.decode()] for one, raw in closed.items()}
            replace(folder.at(pending), json.dumps({"record": name, "closed": plan}).encode())
        _create(folder, name, data)
        is_ours = True
        for one, raw in closed.items():
            replace(folder.at(one), raw)
        yield
    except BaseException:
        with suppress(RestanteError):
            if is_ours:
                remove(folder.at(name))
            for one in closed:
                replace(folder.at(one), raws[one])
            remove(folder.at(pending))
        raise
    if closed:
        remove(folder.at(pending))


def _create(folder: Directory, name: str, data: bytes) -> None:
    """Make a record whole and durably."""
    temporary = f".{name[:200]}.{os.urandom(8).hex()}.tmp"
    try:
        fd = folder.write_new(temporary, data)
        try:
            os.fchmod(fd, FILE_MODE)
            folder.link(temporary, folder, name)
            folder.sync()
        finally:
            os.close(fd)
            folder.drop(temporary)
    except FileExistsError:
        raise Refused(f"{folder.at(name)} is there already", remedy="try again") from None
    except OSError as error:
        raise failure(folder.at(name), error) from error


def end_steps(folder: Directory, pending: Iterable[str]) -> None:
    """End steps that were under way; one whose writer lives is waited for.

    Raises:
        Busy: A writer takes longer than half a minute.
        StorageFailed: A step cannot be ended.
    """
    for name in pending:
        with flocked(folder.at(name.removesuffix(PENDING) + ".lock"), WAIT_SECONDS):
            end_step(folder, name)


def end_step(folder: Directory, pending: str) -> None:
    """End one step that a killed writer began; the caller holds the message's lock.

    Raises:
        StorageFailed: It cannot be ended.
    """
    found = folder.read(pending, _MOST_PLAN)
    if found is None:
        return
    with suppress(ValueError, KeyError, TypeError, AttributeError, Damaged, Unsafe):
        plan = json.loads(found[0])
        name, closed = plan["record"], dict(plan["closed"])
        check_name(name)
        if folder.status(name) is not None:
            for one, (before, after) in closed.items():
                _close(folder, one, before.encode(), after.encode())
    remove(folder.at(pending))


def _close(folder: Directory, name: str, before: bytes, after: bytes) -> None:
    """Close a replaced record, unless somebody changed it since."""
    check_name(name)
    with flocked(folder.at(name + ".lock"), WAIT_SECONDS):
        found = folder.read(name, MOST_BYTES + 1)
        if found is not None and found[0] == before:
            parse_record(after)
            replace(folder.at(name), after)
