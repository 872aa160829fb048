"""Rows of the inputs that an event's run checked: those with results of data quality checks."""

from whence.derive.rows.dataset_rows import Flat
from whence.model.events import Event, RunEvent
from whence.model.ids import node_id
from whence.openlineage.facets.assertions import is_assertions_facet, parse_assertions


def make_checked_dataset_rows(event: Event) -> tuple[Flat, ...]:
    """Job and dataset of each input with a result of a check."""
    if not isinstance(event, RunEvent):
        return ()
    checked = {
        node_id(dataset.name)
        for dataset in event.inputs
        for facet in dataset.run_facets
        if is_assertions_facet("input", facet.key) and parse_assertions(facet.payload)
    }
    return tuple((node_id(event.job.name), dataset) for dataset in sorted(checked))
