"""The content of a pack, gathered from the answers of the query engine: documents, in the order of their rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whence.govern.contracts.evaluation.answers import contract_history, contracted_entries
from whence.govern.contracts.evaluation.observations import Observed
from whence.govern.evidence.content.gate_history import gate_document
from whence.govern.evidence.content.lineage import PackLineage, prove_lineage
from whence.govern.evidence.content.model_card import make_card
from whence.govern.evidence.content.policy_decisions import policy_document
from whence.govern.evidence.content.proving_events import ProvingEvents, collect_events
from whence.govern.evidence.content.slo_history import slo_documents
from whence.govern.evidence.content.sources import Sources
from whence.govern.evidence.heads import Head, heads_until
from whence.model.graph import AssertingRun
from whence.model.ids import node_id
from whence.model.names import DatasetName, Node, RunName
from whence.query.answers.instants import iso
from whence.query.answers.values import Question
from whence.query.ports.catalog import Catalog
from whence.query.questions.check_results import CheckResult, results_of
from whence.query.rendering.answers import answer_head, answer_part, completeness_document, run_document
from whence.query.rendering.catalog import facts_documents
from whence.query.rendering.checks import check_result_document
from whence.query.runs.commits import Commit, commits_of

Json = dict[str, Any]

DATASETS_AT_ONCE = 50
"""Datasets whose checks are read with one query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackContent:
    """Everything in a pack but its signature, and what is made from this alone. Documents as the API shows them."""

    question: Json
    completeness: Json
    lineage: Json
    events: ProvingEvents
    runs: Json
    schemas: Json
    checks: Json
    contracts: Json
    slos: Json
    policies: Json
    facts: Json
    gate: Json
    audit: Json
    heads: tuple[Head, ...]
    are_heads_shown: bool
    card: Json | None = None
    """The card of a model; None if the node is none."""


def gather_content(sources: Sources, root: Node, question: Question, at: int) -> PackContent:
    """Gather the content of the pack of a node, as of a time (µs), which is that of the question.

    Raises LogError, and the errors of questions.
    """
    found = prove_lineage(sources.graph, root, question)
    events = collect_events(sources.events.read(found.events))
    runs = {"runs": list(_runs(sources, found.runs, events.commits))}
    named = frozenset(found.datasets)
    facts: Json = {"facts": facts_documents(sources.catalog, sources.graph, (*found.datasets, *found.jobs))}
    gate = gate_document(sources.catalog, found.nodes, at)
    return PackContent(
        question=_question_document(found, question, at),
        completeness={**completeness_document(found.answer.completeness)},
        lineage={**answer_head(found.answer), **answer_part(found.answer)},
        events=events,
        runs=runs,
        schemas={"schemas": list(_schemas(sources.catalog, found.datasets, at))},
        checks=_checks(sources.graph, found.datasets, at),
        contracts={"contracts": list(_contracts(sources, found.datasets, at))},
        slos={"slos": list(slo_documents(sources, named, at))},
        policies=policy_document(sources, named, at),
        facts=facts,
        gate=gate,
        audit=_audit(sources, root, at),
        heads=tuple(heads_until(sources.heads, at)),
        are_heads_shown=sources.is_whole,
        card=make_card(sources, found, question, at, facts=facts, runs=runs, gate=gate),
    )


def _question_document(found: PackLineage, question: Question, at: int) -> Json:
    return {
        "node": str(found.answer.root),
        "as_of": iso(at),
        "types": sorted(found.answer.types),
        "depth": question.depth,
        "max_nodes": question.max_nodes,
        "max_edges": question.max_edges,
    }


def _runs(sources: Sources, runs: Sequence[AssertingRun], commits: Mapping[tuple[str, str], Commit]) -> Iterator[Json]:
    """The runs, with their commits: from their events in this pack, else from the latest run of their job."""
    rows = sources.graph.runs([node_id(one.name) for one in runs])
    ids = {row.name: row.id for row in rows}
    touched, latest = sources.catalog.touched(ids.values()), commits_of(sources.graph, rows)
    names = sources.graph.nodes({one for some in touched.values() for one in (*some.inputs, *some.outputs)})
    for one in runs:
        id_ = ids.get(one.name, 0)
        ends = touched.get(id_)
        commit = commits.get(_place(one.name)) or latest.get(id_)
        yield {
            **run_document(one),
            "inputs": _sorted_names(names, ends.inputs if ends else ()),
            "outputs": _sorted_names(names, ends.outputs if ends else ()),
            "commit": None
            if commit is None
            else {"version": commit.version, "url": commit.url, "branch": commit.branch},
        }


def _place(name: RunName) -> tuple[str, str]:
    return name.run_id.lower(), str(name.job)


def _sorted_names(names: Mapping[int, Node], ids: Sequence[int]) -> list[str]:
    return sorted(str(names[one]) for one in ids if one in names)


def _schemas(catalog: Catalog, datasets: Sequence[DatasetName], at: int) -> Iterator[Json]:
    """Every schema that was reported until then, by dataset, the oldest first."""
    found = catalog.schemas([node_id(one) for one in datasets])
    for dataset in datasets:
        for one in sorted(found.get(node_id(dataset), ()), key=lambda one: (one.first_time, one.last_time)):
            if one.first_time <= at:
                yield {
                    "dataset": str(dataset),
                    "first_seen": iso(one.first_time),
                    "last_seen": iso(one.last_time),
                    "fields": json.loads(one.payload).get("fields", []) if one.payload else [],
                }


def _checks(graph: Observed, datasets: Sequence[DatasetName], at: int) -> Json:
    """The results of checks of all datasets, the newest first, and why they are not all, if they are not."""
    found: list[CheckResult] = []
    stopped: str | None = None
    for start in range(0, len(datasets), DATASETS_AT_ONCE):
        page = results_of(graph, datasets[start : start + DATASETS_AT_ONCE], at)
        found += page.results
        stopped = stopped or page.stopped_by
        if stopped == "access":
            break
    ordered = sorted(set(found), key=lambda one: one.order)
    return {"stopped_by": stopped, "checks": [check_result_document(one) for one in ordered]}


def _contracts(sources: Sources, datasets: Sequence[DatasetName], at: int) -> Iterator[Json]:
    """The contract of each dataset that has one, evaluated then, with its versions and the times of its violations."""
    named = set(datasets)
    for entry in contracted_entries(sources.catalog):
        if entry.name in named and isinstance(entry.name, DatasetName):
            yield {**contract_history(sources.catalog, sources.graph, entry.name, at, at, transitions=True)}


def _audit(sources: Sources, root: Node, at: int) -> Json:
    """The changes of the node in the audit log, if the viewer may read it."""
    if sources.read_audit is None:
        return {"shown": False, "entries": []}
    return {"shown": True, "entries": list(sources.read_audit([str(root)], at))}
