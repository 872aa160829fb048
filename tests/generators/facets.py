"""Facets: what each may hold, the unknown ones, deleted ones and null ones."""

from typing import Any

from hypothesis import strategies as st

from generators.lineage import column_lineage, job_lineage
from generators.universe import (
    NO_NAMES,
    RUN_IDS,
    Events,
    Json,
    dataset_names,
    few,
    fields,
    job_names,
    optional,
    run_ids,
)

HEAD = {"_producer": "https://example.org/p", "_schemaURL": "https://example.org/f.json#/$defs/F"}
DELETED = HEAD | {"_deleted": True}

leaves = st.sampled_from(
    [None, True, False, 0, -1, 2**53, 0.5, 1e16, -1.5e-7, 1e-5, -0.0, "", "text", '日次\n"\\\u0001', "a.b-c"]
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "é", "_deleted"]), inner, max_size=2)
    ),
    max_leaves=4,
)
unknown = st.dictionaries(st.sampled_from(["value", "x.y", "日", "n"]), values, max_size=2)
deleted = st.sampled_from([DELETED, {"_deleted": True}, {"_deleted": False, "value": 1}])

columns = st.recursive(
    optional(
        {"name": fields | fields | fields | st.sampled_from(["", None])},
        type=st.sampled_from(["string", "int"]),
        description=st.just("a column"),
    ),
    lambda inner: optional({"name": fields}, type=st.just("struct"), fields=few(inner)),
    max_leaves=3,
)
schema = optional({"fields": few(columns, most=3)}, _producer=st.just("https://example.org/p"))


@st.composite
def _link(draw: st.DrawFn) -> Json:
    types = ("TABLE", "TABLE", "LOCATION", "LOCATION", "location", "x" * 201)
    kind = draw(st.sampled_from([*({"type": one} for one in types), {}]))
    return draw(dataset_names | dataset_names | dataset_names | st.sampled_from(NO_NAMES)) | kind


symlinks = st.fixed_dictionaries({"identifiers": few(_link(), least=1)})


@st.composite
def _word(draw: st.DrawFn) -> Json:
    return draw(dataset_names) | {"type": draw(st.sampled_from(["whence:cut", "whence:cut", "whence:joined"]))}


words = st.fixed_dictionaries({"identifiers": few(_word(), least=1)})
reference = st.fixed_dictionaries({"run": st.fixed_dictionaries({"runId": run_ids}), "job": job_names})
broken = st.sampled_from(
    [
        {},
        {"run": {"runId": RUN_IDS[0]}},
        {"run": {"runId": ""}, "job": {"namespace": "n", "name": "j"}},
        {"run": {"runId": "manual"}, "job": {"namespace": "n", "name": "j"}},
        {"run": {"runId": "scheduled__2022-03-14"}, "job": {"namespace": "n", "name": "dag.task"}},
    ]
)
parent = optional(
    {"run": st.fixed_dictionaries({"runId": run_ids}), "job": job_names}, root=reference | reference | broken
) | st.tuples(broken, reference).map(lambda pair: pair[0] | {"root": pair[1]})
job_type = st.fixed_dictionaries(
    {"processingType": st.sampled_from(["BATCH", "STREAMING", "SERVICE", "streaming"]), "integration": st.just("SPARK")}
)
partial = st.just({"totalTasks": 2, "failedTasks": 1, "errors": []})
debug = st.sampled_from(
    [{"logs": ["fine", "Incomplete lineage due to a timeout"]}, {"logs": ["fine", 1]}, {"logs": "Incomplete lineage"}]
)

ANY_KEYS = {
    "custom.key-with.dots": unknown | deleted | st.none(),
    "documentation": st.sampled_from(
        [{"description": "one"}, {"description": "two", "contentType": "text/markdown"}, DELETED]
    ),
    "ключ": unknown,
}
_NUMBERS: list[Any] = [0, 3, -1, 2**53, 2**63 - 1, 2**63, 10**30, 0.5, 1e16, -0.0, True, None, "3", [3], {}]
_numbers = st.sampled_from(_NUMBERS)
_column_metrics = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("nullCount", "distinctCount", "min", "max", "other"), _numbers),
        "quantiles": st.dictionaries(
            st.sampled_from(["0.1", "0.99", "50", "p50", "", "1.", "0.1\n"]), _numbers, max_size=2
        )
        | _numbers,
    },
)
metrics = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("rowCount", "bytes", "size", "rows"), _numbers),
        "columnMetrics": st.dictionaries(
            st.sampled_from(["a", "a.b", "", "日"]), _column_metrics | _numbers, max_size=2
        )
        | _numbers,
        "_deleted": st.booleans(),
    },
)
statistics = st.fixed_dictionaries({}, optional=dict.fromkeys(("rowCount", "size", "fileCount", "bytes"), _numbers))
checks = st.sampled_from([{"assertions": [{"assertion": "unique", "success": False}]}, {"assertions": []}, DELETED])

dataset_facets = st.fixed_dictionaries(
    {},
    optional={
        **ANY_KEYS,
        "dataQualityAssertions": checks,
        "dataQualityMetrics": metrics,
        "schema": schema | deleted,
        "symlinks": symlinks | symlinks | deleted,
        "whence_aliases": words | deleted,
    },
)
lifecycle = st.sampled_from(
    [{"state": "DECOMMISSIONED"}, {"state": "DECOMMISSIONED", "_deleted": True}, {"state": ["DECOMMISSIONED"]}, DELETED]
)


@st.composite
def _change(draw: st.DrawFn) -> Json:
    """Renames of and to few names: so chains and swaps come about."""
    word = draw(
        st.sampled_from(["DROP", "DROP", "RENAME", "RENAME", "CREATE", "OVERWRITE", "TRUNCATE", "ALTER", "drop"])
    )
    before = draw(st.none() | dataset_names | dataset_names | dataset_names | st.sampled_from(NO_NAMES))
    return {"lifecycleStateChange": word} | ({} if before is None else {"previousIdentifier": before})


change = _change() | _change() | _change() | st.just(DELETED) | st.just({"lifecycleStateChange": ["DROP"]})


def with_change(facets: Events) -> Events:
    """A third of the time with a change of the dataset's life."""
    facet = st.none() | st.none() | change
    return st.tuples(facets, facet).map(
        lambda pair: pair[0] if pair[1] is None else {**pair[0], "lifecycleStateChange": pair[1]}
    )


job_facets = st.fixed_dictionaries({}, optional={**ANY_KEYS, "jobType": job_type, "whence_lifecycle": lifecycle})
run_facets = st.fixed_dictionaries(
    {},
    optional={
        "run.custom": unknown | deleted | st.none(),
        "parent": parent,
        "extractionError": partial,
        "debug": debug,
    },
)
role_facets = st.fixed_dictionaries(
    {},
    optional={
        "rows-read": unknown | deleted,
        "dataQualityMetrics": metrics,
        "inputStatistics": statistics,
        "outputStatistics": statistics,
    },
)


_REASONS = (
    "left_the_engine",
    "left_the_engine: a list",
    "not_captured",
    "no_source",
    "no_source: a constant",
    "seed: of a file",
    "opaque_function",
    "",
    None,
)
_reports = few(
    optional({}, field=fields | fields | st.sampled_from(["", None, "a\0"]), reason=st.sampled_from(_REASONS))
)
evidence = optional({}, unexplained=_reports | st.none(), doubts=_reports | st.just({})) | st.just(DELETED)


def with_evidence(facets: Events) -> Events:
    """A third of the time with a whence_columnEvidence facet."""
    facet = st.none() | st.none() | evidence
    return st.tuples(facets, facet).map(
        lambda pair: pair[0] if pair[1] is None else {**pair[0], "whence_columnEvidence": pair[1]}
    )


def with_column_lineage(facets: Events) -> Events:
    """Half of the time with a columnLineage facet, now and then a deleted one."""
    facet = st.none() | column_lineage | column_lineage | st.just(DELETED)
    return st.tuples(facets, facet).map(
        lambda pair: pair[0] if pair[1] is None else {**pair[0], "columnLineage": pair[1]}
    )


def with_job_lineage(facets: Events) -> Events:
    """A third of the time with an explicit lineage facet."""
    facet = st.none() | st.none() | st.none() | job_lineage | job_lineage | st.just(DELETED)
    return st.tuples(facets, facet).map(lambda pair: pair[0] if pair[1] is None else {**pair[0], "lineage": pair[1]})
