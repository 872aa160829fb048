"""Run, job and dataset events, and histories of them."""

from hypothesis import strategies as st

from generators import facets
from generators.lineage import dataset_lineage
from generators.sql import with_sql
from generators.universe import NO_NAMES, Json, dataset_names, few, job_names, moments, optional, runs

STATES = ("START", "RUNNING", "COMPLETE", "COMPLETE", "FAIL", "ABORT", "OTHER", "LATER", None)
PRODUCERS = (
    "https://example.org/spark",
    "https://example.org/dbt",
    "https://github.com/apache/airflow/tree/providers-openlineage/2.20.3",
)

output_facets = facets.with_change(facets.with_evidence(facets.with_column_lineage(facets.dataset_facets)))
declared_facets = facets.with_change(facets.with_evidence(facets.dataset_facets))
job_facets = facets.with_job_lineage(facets.job_facets)


@st.composite
def _dataset(draw: st.DrawFn, role: str) -> Json:
    dataset: Json = draw(dataset_names) if draw(st.integers(0, 19)) else dict(draw(st.sampled_from(NO_NAMES)))
    plain = draw(st.booleans())
    if role == "output" or not plain:
        dataset["facets"] = draw(output_facets if role == "output" else facets.dataset_facets)
    if draw(st.booleans()):
        dataset[f"{role}Facets"] = draw(facets.role_facets)
    return dataset


inputs = few(_dataset("input"))
outputs = few(_dataset("output"))


@st.composite
def run_events(draw: st.DrawFn) -> Json:
    """Events of a few runs: any state or none, inputs and outputs absent, empty or set."""
    state = draw(st.sampled_from(STATES))
    event: Json = {"eventType": state} if state else {}
    event |= {
        "eventTime": draw(moments),
        "producer": draw(st.sampled_from(PRODUCERS)),
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    run_id, job = draw(runs)
    event["run"] = {"runId": run_id} | draw(optional({}, facets=facets.run_facets))
    event["job"] = job | draw(optional({}, facets=job_facets))
    event |= draw(optional({}, inputs=inputs, outputs=outputs))
    if not draw(st.integers(0, 3)):
        return draw(with_sql(event))
    return event if draw(st.integers(0, 19)) else event | {"dataset": draw(dataset_events())["dataset"]}


@st.composite
def job_events(draw: st.DrawFn) -> Json:
    """Declarations of a job; some declare nothing."""
    event: Json = {"eventTime": draw(moments), "producer": draw(st.sampled_from(PRODUCERS))}
    event["job"] = draw(job_names) | draw(optional({}, facets=job_facets))
    event |= draw(optional({}, inputs=inputs, outputs=outputs))
    return event if draw(st.integers(0, 5)) else event | {"dataset": draw(dataset_events())["dataset"]}


@st.composite
def dataset_events(draw: st.DrawFn) -> Json:
    """Declarations of a dataset: facets, half of them with explicit lineage."""
    dataset: Json = draw(dataset_names)
    some = draw(declared_facets)
    lineage = draw(st.none() | dataset_lineage | dataset_lineage | st.just(facets.DELETED))
    dataset["facets"] = some if lineage is None else {**some, "lineage": lineage}
    head: Json = draw(st.sampled_from([{"producer": PRODUCERS[0]}, {"producer": PRODUCERS[1]}, {}, {"producer": None}]))
    return head | {"eventTime": draw(moments), "dataset": dataset}


events = st.one_of(run_events(), run_events(), run_events(), run_events(), job_events(), dataset_events())


def histories(most: int = 10) -> st.SearchStrategy[list[Json]]:
    """Lists of events in which runs, datasets, aliases and instants collide."""
    return st.lists(events, min_size=1, max_size=most) | st.lists(events, min_size=most // 2, max_size=most)
