"""Rows of a graph with the ids that a viewer may see: a name's own, or that of its pseudonym."""

from whence.model.graph import EdgeRow, FieldRow, SetEdge, SpanRow
from whence.model.ids import node_id
from whence.model.names import FieldName
from whence.query.visibility.visible_ids import VisibleIds


def show_edge(visible_ids: VisibleIds, row: EdgeRow, description: str) -> EdgeRow:
    """An edge, with the description of its expression that the viewer may see."""
    shown = visible_ids.shown
    return row._replace(
        near_id=shown(row.near_id),
        far_id=shown(row.far_id),
        near_dataset_id=shown(row.near_dataset_id),
        far_dataset_id=shown(row.far_dataset_id),
        owner_id=shown(row.owner_id),
        description=description,
    )


def show_set_edge(visible_ids: VisibleIds, edge: SetEdge) -> SetEdge:
    """An edge of a lineage set."""
    shown = visible_ids.shown
    return edge._replace(
        source_id=shown(edge.source_id),
        target_id=shown(edge.target_id),
        source_dataset_id=shown(edge.source_dataset_id),
        target_dataset_id=shown(edge.target_dataset_id),
    )


def show_field(visible_ids: VisibleIds, row: FieldRow) -> FieldRow:
    """A field that was met before, by its name or its pseudonym."""
    name = visible_ids.names[row.id]
    assert isinstance(name, FieldName)
    return FieldRow(visible_ids.shown(row.dataset_id), node_id(name), name.field)


def show_span(visible_ids: VisibleIds, row: SpanRow) -> SpanRow:
    """A validity interval. Its statement is a run or an event; an event's id reveals nothing and is no node's id."""
    statement = visible_ids.shown(row.statement_id) or row.statement_id
    return row._replace(owner_id=visible_ids.shown(row.owner_id), statement_id=statement)
