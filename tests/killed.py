"""Processes that are killed: before each of their steps that change anything, or at an instant that is drawn by lot."""

from __future__ import annotations

import itertools
import os
import signal
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

_STEPS = ("write", "fsync", "fdatasync", "link", "rename", "replace", "unlink", "mkdir", "open")
_KILLED = 9
_FAILED = 70


def before_each_step(act: Callable[[], Any], *, first: int = 1, stride: int = 1) -> Iterator[int]:
    """Run an act in processes of its own, each killed before one of its steps; give the number of that step.

    Between two of them the caller looks at what was left, and sets up the next. It ends when an act came to its end.

    Args:
        act: What is done.
        first: The first step that is not come to.
        stride: How many steps further the next one is killed.
    """
    for number in itertools.count(first, stride):
        status = _forked(lambda number=number: _run(act, number))  # type: ignore[misc]
        assert status in (0, _KILLED), "the act failed; its process told why"
        yield number
        if status == 0:
            return


def _run(act: Callable[[], Any], number: int) -> None:
    left = [number]
    for name in _STEPS:
        setattr(os, name, _counted(getattr(os, name), left))
    act()


def _counted(real: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    def step(*words: Any, **named: Any) -> Any:
        is_look = real.__name__ == "open" and not words[1] & os.O_CREAT
        if not is_look:
            left[0] -= 1
            if not left[0]:
                os._exit(_KILLED)
        return real(*words, **named)

    step.__name__ = real.__name__
    return step


def at_random(act: Callable[[], Any], seconds: float, dice: random.Random) -> None:
    """Run an act in a process of its own that is killed within so many seconds, if it did not end before."""
    pid = os.fork()
    if not pid:
        _end(act)
    # Not a wait for anything: the instant of the kill is what is drawn by lot.
    time.sleep(dice.random() * seconds)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL), "the act failed; its process told why"


def _forked(act: Callable[[], Any]) -> int:
    pid = os.fork()
    if not pid:
        _end(act)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _end(act: Callable[[], Any]) -> None:
    """End this process after an act: as it does, and without what belongs to the process it comes from."""
    code = _FAILED
    try:
        act()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)
