"""Traces for OpenTelemetry: spans of a process, sent to the target in the standard settings. The SDK is an extra."""

import atexit
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.trace import StatusCode

from whence.errors import WhenceError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
LAST_SECONDS = 2
"""For the spans that were not sent when the process ends."""

OFF = "or set OTEL_SDK_DISABLED=true to do without traces"


def is_traced(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the settings of OpenTelemetry name a collector. Raises WhenceError if they ask for what cannot be had.

    Source: OpenTelemetry specification, environment variables of the SDK and of the OTLP exporter.
    """
    named = any(environ.get(name) for name in ENDPOINTS)
    exporter = environ.get("OTEL_TRACES_EXPORTER") or "otlp"
    if not named or exporter == "none" or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if exporter != "otlp":
        raise WhenceError(f"OTEL_TRACES_EXPORTER is {exporter!r}; only otlp is supported: set it to otlp, {OFF}")
    protocol = next((environ[name] for name in PROTOCOLS if environ.get(name)), "http/protobuf")
    if protocol != "http/protobuf":
        raise WhenceError(
            f"the trace protocol {protocol!r} is not supported: set {PROTOCOLS[0]} to http/protobuf, {OFF}"
        )
    return True


def send_traces(service: str, *processors: Callable[[], "SpanProcessor"]) -> Callable[[], None]:
    """Send spans of this process from now on, as `service` unless OTEL_SERVICE_NAME says otherwise; each passes the
    processors first, which are made once the extra is known to be there. Lines of the log have the trace's id.

    Returns the function that sends the last ones, for a process that ends by a signal; else it happens at its exit.
    Raises WhenceError if the extra is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise WhenceError(f"traces need an extra: pip install 'whence-lineage[tracing]', {OFF}") from error
    named = os.environ.get("OTEL_SERVICE_NAME", service)
    provider = TracerProvider(resource=Resource.create({"service.name": named}), shutdown_on_exit=False)
    for processor in (*(make() for make in processors), BatchSpanProcessor(OTLPSpanExporter())):
        provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)
    _log_trace_ids()
    end = partial(_end, provider)
    atexit.register(end)
    return end


@contextmanager
def spanning(name: str) -> Iterator[None]:
    """A span around some work, in the one that is current. Of an error it has the type only: messages hold names."""
    tracer = trace.get_tracer("whence")
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
        try:
            yield
        except Exception as error:
            span.set_attribute("error.type", type(error).__qualname__)
            span.set_status(StatusCode.ERROR)
            raise


def _end(provider: "TracerProvider") -> None:
    """A collector that does not answer must not hold the process up."""
    sending = threading.Thread(target=provider.shutdown, daemon=True)
    sending.start()
    sending.join(LAST_SECONDS)


def _log_trace_ids() -> None:
    make = logging.getLogRecordFactory()

    def make_traced(*args: Any, **named: Any) -> logging.LogRecord:
        record = make(*args, **named)
        current = trace.get_current_span().get_span_context()
        if current.is_valid:
            record.trace_id = trace.format_trace_id(current.trace_id)
        return record

    logging.setLogRecordFactory(make_traced)
