"""Spans of requests without what was asked for: names may be known to fewer people than traces are."""

from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanProcessor

from whence.api.collector.fast_path import PATHS

_HIDDEN = "REDACTED"
_POSTED = {*PATHS, *(f"{path}/batch" for path in PATHS)}


class TracePrivacy(SpanProcessor):
    """Hides path and query of a request, in which datasets are named; the route says what was asked."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Before anything else sees the span."""
        said = span.attributes or {}
        path = said.get("url.path")
        if path in _POSTED:  # answered before there is a route
            span.update_name(f"{said.get('http.request.method')} {path}")
            span.set_attribute("http.route", str(path))
        for name in ("url.path", "url.query"):
            if name in said:
                span.set_attribute(name, _HIDDEN)
