"""The estate of a story with personal data: the same labels as the question about each dataset, and what is hidden."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import (
    BODIES,
    CRM,
    CRM_TAGS,
    DEV,
    EMAIL,
    FEATURES,
    PATIENTS,
    REPORT,
    STAGING,
    USERS,
    of,
    ran,
    shaped,
    tagged,
)
from whence.govern.policies.assembly import KnownGraph, make_estate
from whence.govern.policies.estate import Estate, Shown
from whence.govern.policies.reading import read_estate
from whence.model.access import Grant, Role, Viewer
from whence.model.graph import Direction
from whence.model.ids import node_id
from whence.model.names import FieldName
from whence.model.sensitivity import Grade
from whence.model.traits import NO_TRAITS
from whence.openlineage.write import dataset as dataset_document
from whence.openlineage.write import facet
from whence.query.answers.values import Question
from whence.query.ports.graph import Graph
from whence.query.sensitivity.labels import SensitivityQuestion, sensitivity
from whence.query.visibility.graph import seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph

ALL = (CRM, USERS, FEATURES, REPORT, PATIENTS, STAGING, DEV)


@pytest.fixture
def graph(store: Engine) -> Iterator[StoreGraph]:
    apply_bodies(store, BODIES)
    with reading(store) as connection:
        yield StoreGraph(connection)


def estate(graph: Graph, at: int | None = None) -> Estate:
    return read_estate(graph, map(node_id, ALL), {}, at)


def test_labels_are_those_of_the_question(graph: StoreGraph) -> None:
    found = estate(graph)
    for dataset in ALL:
        asked = sensitivity(
            graph,
            dataset,
            SensitivityQuestion(direction=Direction.UPSTREAM, range=Question(), at_least=Grade.INFLUENCED),
        )
        expected = {
            (one.node, one.category): Shown(grade=one.grade, proven=one.proven, path=one.path)
            for one in asked.labels
            if isinstance(one.node, FieldName)
        }
        assert expected == {
            (node, category): shown
            for node, subject in found.subjects.items()
            if isinstance(node, FieldName) and node.dataset == dataset
            for category, shown in subject.labels.items()
        }


def test_a_dataset_has_the_highest_label_of_its_columns(graph: StoreGraph) -> None:
    shown = estate(graph).subjects[FEATURES].labels["pii"]
    assert (shown.grade, shown.proven, shown.path[-1]) == (Grade.FULL, Grade.PSEUDONYMOUS, of(FEATURES, "code"))


def test_a_filter_reaches_the_columns_of_which_nothing_else_is_known(store: Engine) -> None:
    """As the question about the column says; what a job does not report may reach them, too."""
    schema = facet("SchemaDatasetFacet", fields=[{"name": "day"}])
    bodies = [
        ran("choose", 1, tagged(CRM, *CRM_TAGS), USERS, [shaped(EMAIL, USERS, "FILTER")]),
        ran("read", 2, dataset_document(USERS, facets={"schema": schema}), DEV, []),
    ]
    apply_bodies(store, bodies)
    day = of(USERS, "day")
    upstream = SensitivityQuestion(direction=Direction.UPSTREAM, range=Question(), at_least=Grade.INFLUENCED)
    with reading(store) as connection:
        graph = StoreGraph(connection)
        shown = estate(graph).subjects[day].labels["pii"]
        (asked,) = sensitivity(graph, day, upstream).labels
    assert (shown.grade, shown.proven, shown.path) == (Grade.INFLUENCED, Grade.INFLUENCED, asked.path)
    assert asked.path == (EMAIL, USERS, day)
    known = KnownGraph(ways=(), traits={USERS: NO_TRAITS}, columns=frozenset({day}), unknown=frozenset({USERS}))
    assert make_estate(known, {}).subjects[day].unknown


def test_inputs_are_direct_and_certified_ways_lead_back_to_the_source(graph: StoreGraph) -> None:
    found = estate(graph)
    assert found.inputs[FEATURES] == {USERS}
    assert [one.node for one in found.upstream_of(found.subjects[FEATURES])] == [USERS, CRM]


def test_hidden_nodes_are_counted_and_what_follows_them_is_open(graph: StoreGraph) -> None:
    viewer = Viewer(name="intern", grants=(Grant(Role.READER, "bi://*"),))
    found = read_estate(seen_by(viewer, b"secret", graph), [node_id(REPORT)], {})
    assert {one.dataset for one in found.subjects.values()} == {REPORT}
    assert found.hidden > 0
    assert "may not be seen" in found.subjects[of(REPORT, "salary")].unknown
    assert "crm" not in repr(found)
