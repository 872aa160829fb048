"""The lineage of a pack as PROV-JSON (W3C member submission of 24 April 2013), for tools that read provenance.

Datasets and columns are entities, runs activities, and owners agents. Identifiers are numbers in the order of node ids,
since node ids may have any characters; the node id is the label.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from whence.govern.evidence.content.gather import PackContent

Json = dict[str, Any]
NAMESPACE = "https://github.com/whence-lineage/whence/evidence/"


def provenance_document(content: PackContent) -> Json:
    """The provenance of the nodes in a pack."""
    edges = content.lineage["edges"]
    nodes = {content.lineage["root"], *(one["node"] for one in content.lineage["nodes"])}
    nodes |= {end for edge in edges for end in (edge["source"], edge["target"])}
    nodes |= {end for run in content.runs["runs"] for end in (*run["inputs"], *run["outputs"])}
    entities = _numbered("n", (one for one in nodes if not one.startswith("job:")))
    runs = {f"whence:r{number}": run for number, run in enumerate(content.runs["runs"])}
    owners = {(fact["node"], owner["name"]) for fact in content.facts["facts"] for owner in fact["owners"]}
    agents = _numbered("a", (name for _, name in owners))
    return {
        "prefix": {"whence": NAMESPACE},
        "entity": {id_: {"prov:label": node} for node, id_ in entities.items()},
        "activity": {id_: _activity(run) for id_, run in runs.items()},
        "agent": {id_: {"prov:label": name} for name, id_ in agents.items()},
        "used": _relations("u", _ends(runs, "inputs", entities)),
        "wasGeneratedBy": _relations("g", _ends(runs, "outputs", entities)),
        "wasDerivedFrom": _relations("d", _derivations(edges, entities)),
        "wasAttributedTo": _relations(
            "t",
            (
                {"prov:entity": entities[node], "prov:agent": agents[name]}
                for node, name in sorted(owners)
                if node in entities
            ),
        ),
    }


def _numbered(letter: str, texts: Iterable[str]) -> dict[str, str]:
    return {text: f"whence:{letter}{number}" for number, text in enumerate(sorted(set(texts)))}


def _activity(run: Json) -> Json:
    times = {"prov:startTime": run["started_at"], "prov:endTime": run["ended_at"]}
    label = {"prov:label": run["run"], "whence:job": run["job"], "whence:state": run["state"]}
    commit = {"whence:commit": run["commit"]["version"]} if run["commit"] else {}
    return {name: value for name, value in {**times, **label, **commit}.items() if value is not None}


def _ends(runs: Mapping[str, Json], side: str, entities: Mapping[str, str]) -> Iterator[Json]:
    for id_, run in runs.items():
        for node in run[side]:
            yield {"prov:activity": id_, "prov:entity": entities[node]}


def _derivations(edges: Iterable[Json], entities: Mapping[str, str]) -> Iterator[Json]:
    pairs = {(edge["target"], edge["source"]) for edge in edges}
    for target, source in sorted(pairs):
        if target in entities and source in entities:
            yield {"prov:generatedEntity": entities[target], "prov:usedEntity": entities[source]}


def _relations(letter: str, several: Iterable[Json]) -> Json:
    return {f"_:{letter}{number}": one for number, one in enumerate(several)}
