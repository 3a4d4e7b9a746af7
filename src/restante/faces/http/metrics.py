"""What a server tells of itself in numbers, as Prometheus text. No label names a session, an owner or a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from restante.faces.http.waits import Waits

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 60.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The numbers of one server.

    Args:
        waits: Who is parked.
    """

    def __init__(self, waits: Waits) -> None:
        self._registry = CollectorRegistry()
        here = self._registry
        self.posts = Counter("restante_posts", "Messages stored", registry=here)
        self.duplicates = Counter("restante_duplicates", "Posts that were a repeat", registry=here)
        self.acknowledged = Counter("restante_acknowledged", "Messages acknowledged", registry=here)
        self.handed = Counter("restante_handed_over", "Messages that their addressee took", registry=here)
        self.lost = Counter("restante_answers_lost", "Reads whose reader vanished before the answer", registry=here)
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

    def text(self) -> bytes:
        """Return all of it."""
        return generate_latest(self._registry)
