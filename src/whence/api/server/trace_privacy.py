"""Removes names from request spans, since more people may read traces than may see the names."""

from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, SpanProcessor

from whence.api.collector.fast_path import PATHS

_HIDDEN = "REDACTED"
_POSTED = {*PATHS, *(f"{path}/batch" for path in PATHS)}


class TracePrivacy(SpanProcessor):
    """Hides a request's path and query, which contain dataset names; the span keeps the route."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Called before anything else sees the span."""
        attributes = span.attributes or {}
        path = attributes.get("url.path")
        if path in _POSTED:  # answered before there is a route
            span.update_name(f"{attributes.get('http.request.method')} {path}")
            span.set_attribute("http.route", str(path))
        for name in ("url.path", "url.query"):
            if name in attributes:
                span.set_attribute(name, _HIDDEN)
