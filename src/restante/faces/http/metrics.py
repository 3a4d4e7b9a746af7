"""What a server tells of itself in numbers, as Prometheus text. No label names a session, an owner or a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from restante.faces.http.waits import Waits
    from restante.ports import Watcher

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 60.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@runtime_checkable
class Listener(Protocol):
    """A watcher that is told of changes, and can miss some without anybody hearing of it."""

    @property
    def age(self) -> float:
        """Seconds since the other side was last heard of."""

    @property
    def is_stale(self) -> bool:
        """Whether changes may go unheard of at this moment."""


class Metrics:
    """The numbers of one server.

    Args:
        waits: Who is parked.
    """

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._registry = CollectorRegistry()
        here = self._registry
        self.posts = Counter("restante_posts", "Messages stored", registry=here)
        self.duplicates = Counter("restante_duplicates", "Posts that were a repeat", registry=here)
        self.acknowledged = Counter("restante_acknowledged", "Messages acknowledged", registry=here)
        self.handed = Counter("restante_handed_over", "Messages that their addressee took", registry=here)
        self.lost = Counter("restante_answers_lost", "Reads whose reader vanished before the answer", registry=here)
        self._expired = Counter("restante_expired", "Messages found expired", registry=here)
        self._expired_so_far = 0
        self._refusals = Counter("restante_refusals", "Errors told, by code", ["code"], registry=here)
        self._seconds = Histogram(
            "restante_request_seconds", "Time to answer", ["route"], buckets=_SECONDS, registry=here
        )
        self.batches = Histogram("restante_batch_jobs", "Jobs in one commit", buckets=_SIZES, registry=here)
        self.open_streams = 0
        Gauge("restante_event_streams", "Event streams open", registry=here).set_function(lambda: self.open_streams)
        self._pending = Gauge("restante_pending_messages", "Messages that wait for an acknowledgement", registry=here)
        self._unseen = Gauge("restante_unseen_messages", "Messages that nobody has read", registry=here)
        self._oldest = Gauge(
            "restante_oldest_unseen_seconds", "Age of the oldest message that nobody has read", registry=here
        )
        Gauge("restante_parked", "Calls that wait", registry=here).set_function(lambda: len(waits))
        Gauge("restante_parked_sessions", "Sessions that wait for their own mail", registry=here).set_function(
            waits.own
        )

    def expired(self, so_far: int) -> None:
        """Take in how many messages were found expired; where mail moved elsewhere that begins anew."""
        self._expired.inc(so_far - self._expired_so_far if so_far >= self._expired_so_far else so_far)
        self._expired_so_far = so_far

    def refused(self, code: str) -> None:
        """Count an error that was told."""
        self._refusals.labels(code).inc()

    def timer(self, route: str) -> Histogram:
        """Return what observes the time of a route."""
        return self._seconds.labels(route)

    def mail(self, *, pending: int, unseen: int, oldest_seconds: float) -> None:
        """Take in the numbers of all mailboxes."""
        self._pending.set(pending)
        self._unseen.set(unseen)
        self._oldest.set(oldest_seconds)

    def listens(self, watcher: Watcher) -> None:
        """Tell of a watcher whether it still hears, as long as somebody waits: else it need not."""
        if isinstance(watcher, Listener):
            age = Gauge(
                "restante_watcher_age_seconds", "Time since the database was last heard of", registry=self._registry
            )
            age.set_function(lambda: watcher.age if len(self._waits) else 0.0)
            stale = Gauge(
                "restante_watcher_stale", "1 while changes of others may go unheard of", registry=self._registry
            )
            stale.set_function(lambda: float(len(self._waits) > 0 and watcher.is_stale))

    def text(self) -> bytes:
        """Return all of it."""
        return generate_latest(self._registry)
