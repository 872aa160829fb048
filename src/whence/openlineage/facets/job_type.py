"""What a job is by its facets: a streaming job (`jobType`), or one that was decommissioned (`whence_lifecycle`)."""

from whence.openlineage.facets.facet_keys import DECOMMISSIONED, LIFECYCLE
from whence.openlineage.facets.facets import Facets, active_facet
from whence.openlineage.json.wire import text_of


def is_streaming(facets: Facets) -> bool:
    """Whether jobType.processingType is STREAMING or SERVICE."""
    facet = active_facet(facets, "jobType")
    return facet is not None and text_of(facet.get("processingType")).upper() in ("STREAMING", "SERVICE")


def is_decommissioned(facets: Facets) -> bool:
    """Whether whence_lifecycle.state is DECOMMISSIONED: OpenLineage has no facet for the end of a job."""
    facet = active_facet(facets, LIFECYCLE)
    return facet is not None and facet.get("state") == DECOMMISSIONED
