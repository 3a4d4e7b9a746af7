"""One thread, one commit for many: a job's own error is its own, a commit's is everyone's."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from restante.domain.errors import Busy, NoSuchSession, StorageFailed
from restante.faces.http import worker as worker_module
from restante.faces.http.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from restante.exchange import Exchange


def test_stopping_waits_for_no_database_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "FINISH_SECONDS", 0.05)
    books, told = Books(), []

    async def test(worker: Worker) -> None:
        books.gate.clear()
        hanging = worker.submit(lambda _: books.work())
        await worker.stop()
        told.append((hanging.done(), books.is_closed))
        monkeypatch.setattr(worker_module, "FINISH_SECONDS", 30.0)

    within(books, test)
    assert told == [(False, False)]


class Books:
    """An exchange of which only the common commit is wanted."""

    def __init__(self) -> None:
        self.commits: list[int] = []
        self.jobs = 0
        self.failure: Exception | None = None
        self.written: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.is_closed = False
        self.is_near = False

    @contextlib.contextmanager
    def together(self, *, at_once: bool = False) -> Iterator[None]:
        self.gate.wait()
        before = self.jobs
        yield
        if self.failure:
            raise self.failure
        self.commits.append(self.jobs - before)

    def write_now(self) -> None:
        self.written.append(threading.get_ident())

    def work(self) -> int:
        self.jobs += 1
        return self.jobs

    def close(self) -> None:
        self.is_closed = True


def within(books: Books, test: Callable[[Worker], Coroutine[Any, Any, None]]) -> list[int]:
    """Run a test with a worker; return the sizes of its batches."""
    sizes: list[int] = []

    async def run() -> None:
        worker = Worker(asyncio.get_running_loop(), lambda: cast("Exchange", books), sizes.append)
        await worker.start()
        try:
            await test(worker)
        finally:
            books.gate.set()
            await worker.stop()

    asyncio.run(run())
    assert books.is_closed
    return sizes


def ask(books: Any) -> int:
    return cast("int", books.work())


def test_what_waits_meanwhile_shares_one_commit() -> None:
    books = Books()

    async def test(worker: Worker) -> None:
        books.gate.clear()
        first = worker.submit(ask)
        while worker._jobs:
            await asyncio.sleep(0)
        others = [worker.submit(ask) for _ in range(50)]
        books.gate.set()
        assert await first == 1
        assert await asyncio.gather(*others) == list(range(2, 52))

    assert within(books, test) == [1, 50]
    assert books.commits == [1, 50]


def test_a_jobs_own_error_is_its_own() -> None:
    books = Books()

    def fail(_: Exchange) -> int:
        raise NoSuchSession("nobody")

    async def test(worker: Worker) -> None:
        answers = await asyncio.gather(
            worker.submit(ask), worker.submit(fail), worker.submit(ask), return_exceptions=True
        )
        assert isinstance(answers[1], NoSuchSession)
        assert [answers[0], answers[2]] == [1, 2]

    within(books, test)


@pytest.mark.parametrize(
    ("failure", "told"), [(StorageFailed("full"), StorageFailed), (RuntimeError("words of mail"), Busy)]
)
def test_an_error_of_the_commit_is_everyones(failure: Exception, told: type[Exception]) -> None:
    books = Books()
    books.failure = failure

    async def test(worker: Worker) -> None:
        heard: list[int] = []
        answers = await asyncio.gather(*(worker.submit(ask, heard.append) for _ in range(3)), return_exceptions=True)
        assert [type(one) for one in answers] == [told] * 3
        assert "words of mail" not in str(answers)
        assert heard == []
        books.failure = None
        assert await worker.submit(ask) == 4

    within(books, test)


def test_answers_are_looked_at_in_order_before_anybody_goes_on() -> None:
    books = Books()

    async def test(worker: Worker) -> None:
        order: list[str] = []

        async def call(name: str) -> None:
            await worker.submit(ask, lambda _: order.append(f"then {name}"))
            order.append(f"on {name}")

        books.gate.clear()
        calls = [asyncio.create_task(call(name)) for name in "abc"]
        await asyncio.sleep(0)
        books.gate.set()
        await asyncio.gather(*calls)
        assert [one for one in order if one.startswith("then")] == ["then a", "then b", "then c"]
        assert all(order.index(f"then {name}") < order.index(f"on {name}") for name in "abc")

    within(books, test)


def test_what_looking_at_an_answer_raises_is_the_jobs_error() -> None:
    async def test(worker: Worker) -> None:
        def refuse(_: int) -> None:
            raise Busy("no place")

        with pytest.raises(Busy, match="no place"):
            await worker.submit(ask, refuse)

    within(Books(), test)


def test_a_job_alone_is_in_no_common_commit() -> None:
    books = Books()

    async def test(worker: Worker) -> None:
        books.gate.clear()
        first = worker.submit(ask)
        while worker._jobs:
            await asyncio.sleep(0)
        rest = [worker.submit(ask), worker.submit(ask, alone=True), worker.submit(ask)]
        books.gate.set()
        await asyncio.gather(first, *rest)

    assert within(books, test) == [1, 1, 1, 1]
    assert books.commits == [1, 1, 1]


def test_after_a_stop_nothing_is_taken_and_all_before_it_is_done() -> None:
    books = Books()

    async def test(worker: Worker) -> None:
        asked = [worker.submit(ask) for _ in range(5)]
        await worker.stop()
        assert await asyncio.gather(*asked) == [1, 2, 3, 4, 5]
        with pytest.raises(Busy):
            worker.submit(ask)

    within(books, test)


def test_an_exchange_that_cannot_be_opened_is_told_to_who_starts() -> None:
    async def run() -> None:
        def fail() -> Exchange:
            raise StorageFailed("no disk")

        worker = Worker(asyncio.get_running_loop(), fail, lambda _: None)
        with pytest.raises(StorageFailed, match="no disk"):
            await worker.start()

    asyncio.run(run())


def test_a_caller_that_went_away_takes_nothing_from_the_others() -> None:
    books = Books()

    async def test(worker: Worker) -> None:
        books.gate.clear()
        gone = worker.submit(ask)
        other = worker.submit(ask)
        gone.cancel()
        books.gate.set()
        assert await other == 2

    within(books, test)


def test_what_is_brief_is_done_in_the_event_loop_and_commits_once() -> None:
    books, threads = Books(), set[int]()
    books.is_near = True

    def where(_: Exchange) -> int:
        threads.add(threading.get_ident())
        return books.work()

    async def test(worker: Worker) -> None:
        assert await asyncio.gather(*(worker.submit(where, brief=True) for _ in range(5))) == [1, 2, 3, 4, 5]

    assert within(books, test) == [5]
    assert books.commits == [5]
    assert threads == {threading.get_ident()}


def test_as_long_as_each_turn_of_the_loop_brings_more_all_of_it_shares_one_commit() -> None:
    books = Books()
    books.is_near = True

    async def test(worker: Worker) -> None:
        async def come(turns: int) -> int:
            for _ in range(turns):
                await asyncio.sleep(0)
            return await worker.submit(ask, brief=True)

        assert await asyncio.gather(*map(come, range(8))) == list(range(1, 9))

    assert within(books, test) == [8]


def test_what_is_brief_goes_to_the_thread_where_the_database_is_elsewhere() -> None:
    books = Books()

    async def test(worker: Worker) -> None:
        assert await worker.submit(lambda _: threading.get_ident(), brief=True) != threading.get_ident()

    within(books, test)


def test_a_brief_batch_that_would_have_to_wait_is_begun_anew_in_the_thread() -> None:
    books = Books()
    books.is_near = True
    asked: list[int] = []

    def busy(_: Exchange) -> str:
        asked.append(threading.get_ident())
        if threading.get_ident() == here:
            raise Busy("locked")
        return "done"

    here = threading.get_ident()

    async def test(worker: Worker) -> None:
        first, second = worker.submit(ask, brief=True), worker.submit(busy, brief=True)
        assert (await first, await second) == (2, "done")
        assert await worker.submit(ask, brief=True) == 3

    within(books, test)
    assert [one == here for one in asked] == [True, False]
    # What was undone is no commit.
    assert books.commits == [1, 1]


def test_an_error_of_leaving_a_brief_batch_is_everyones_and_nothing_is_done_twice() -> None:
    books = Books()
    books.is_near = True
    books.failure = Busy("the register could not be written")

    async def test(worker: Worker) -> None:
        answers = await asyncio.gather(*(worker.submit(ask, brief=True) for _ in range(3)), return_exceptions=True)
        assert [type(one) for one in answers] == [Busy] * 3

    within(books, test)
    assert books.jobs == 3


def test_only_the_wait_for_a_slow_disk_is_left_to_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_QUICK_SECONDS", -1.0)
    books, left = Books(), set[int]()
    books.is_near = True
    together = books.together

    @contextlib.contextmanager
    def noted(*, at_once: bool = False) -> Iterator[None]:
        with together(at_once=at_once):
            yield
            left.add(threading.get_ident())

    monkeypatch.setattr(books, "together", noted)

    async def test(worker: Worker) -> None:
        assert await worker.submit(lambda _: threading.get_ident(), brief=True) == threading.get_ident()

    within(books, test)
    assert left
    assert threading.get_ident() not in left
    # Two threads that both run Python hinder each other: what was put off is written before it is left.
    assert books.written == [threading.get_ident()]
