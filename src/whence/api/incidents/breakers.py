"""The route of circuit breakers (http-incidents.md): a serving job asks it before it uses the newest data."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from whence.api.auth.guard import Asker
from whence.api.http.path_names import Plain
from whence.api.http.response_types import One
from whence.api.http.responses import MISSING
from whence.api.incidents.views import AsOf, instant_of, whole_catalog, whole_graph
from whence.api.requests.catalog import View
from whence.api.requests.pages import enveloped
from whence.errors import NodeNotFoundError
from whence.govern.breakers.documents import CircuitBreaker, breaker_document
from whence.govern.breakers.reading import read_breaker
from whence.govern.incidents.current import read_streaks
from whence.query.lookup.resolve import resolve

routes = APIRouter(prefix="/api/v2", tags=["incidents"], responses=MISSING)


@routes.get("/circuit-breaker", response_model=One[CircuitBreaker])
def get_circuit_breaker(
    view: View,
    viewer: Asker,
    node: Annotated[Plain, Query(description="a model, job, dataset or column: its node id, or the end of its name")],
    as_of: AsOf = None,
) -> Response:
    """Say whether a node may use the newest data that it reads: `closed`, `open` with the reasons, or `unknown`.

    The state follows from everything that is in the store, for all callers alike.
    """
    at, catalog = instant_of(as_of), whole_catalog(view)
    found = resolve(view.graph, node)
    if not viewer.can_see(found):
        raise NodeNotFoundError(node, ())
    streaks = read_streaks(catalog.connection, at)
    breaker = read_breaker(catalog, whole_graph(view), streaks, found, at, is_past=as_of is not None)
    return enveloped(view, breaker_document(breaker, viewer))
