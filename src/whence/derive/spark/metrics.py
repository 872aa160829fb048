"""Metrics of the pipeline, for Prometheus: on a port of the driver's own, because it may run anywhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Histogram, start_http_server

from whence.errors import WhenceError

REGISTRY = CollectorRegistry()

BATCH_SECONDS = Histogram(
    "whence_batch_seconds",
    "Time that a micro-batch, or a range that the driver derives, took to be written and settled",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)


@contextmanager
def serving_metrics(address: str) -> Iterator[int]:
    """Serve `/metrics` at HOST:PORT while the context is open. Yields the port; 0, without serving, for no address.

    Raises WhenceError.
    """
    if not address:
        yield 0
        return
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(int(port), host.strip("[]") or "0.0.0.0", REGISTRY)
    except (OSError, ValueError, OverflowError) as error:
        raise WhenceError(f"cannot serve metrics at {address!r} (HOST:PORT): {error}") from error
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
