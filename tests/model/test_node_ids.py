"""Node ids round-trip, whatever characters an identity holds; and no two identities share a text or an id."""

from hypothesis import given
from hypothesis import strategies as st

from whence.model.ids import Kind, kind_of, netstrings, node_id
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName, parse_node

TEXTS = st.text(min_size=1, max_size=12) | st.text(alphabet=":%/a3A ", min_size=1, max_size=8)
DATASETS = st.builds(DatasetName, TEXTS, TEXTS)
NODES: st.SearchStrategy[Node] = st.one_of(
    DATASETS, st.builds(FieldName, DATASETS, TEXTS), st.builds(JobName, TEXTS, TEXTS)
)


@given(NODES)
def test_texts_round_trip(node: Node) -> None:
    assert parse_node(str(node)) == node


@given(NODES, NODES)
def test_different_nodes_have_different_texts_and_ids(one: Node, other: Node) -> None:
    assert (one == other) == (str(one) == str(other)) == (node_id(one) == node_id(other))


@given(NODES)
def test_ids_carry_their_kind_and_fit_64_bits(node: Node) -> None:
    kinds = {DatasetName: Kind.DATASET, FieldName: Kind.FIELD, JobName: Kind.JOB}
    assert kind_of(node_id(node)) is kinds[type(node)]
    assert -(2**63) <= node_id(node) < 2**63


@given(st.lists(st.text(max_size=5)), st.lists(st.text(max_size=5)))
def test_netstrings_tell_lists_apart(one: list[str], other: list[str]) -> None:
    assert (netstrings(one) == netstrings(other)) == (one == other)


def test_one_run_id_under_two_jobs_is_two_runs() -> None:
    """Rule 11."""
    one, other = (RunName("01941f29-7c00-7abc-8def-000000000001", JobName("n", name)) for name in "ab")
    assert node_id(one) != node_id(other)
    assert kind_of(node_id(one)) is Kind.RUN


def test_what_is_no_full_node_id_names_nothing() -> None:
    assert [parse_node(text) for text in ("gold.users", "run:x", "dataset", "datasetField:a:b", "")] == [None] * 5
