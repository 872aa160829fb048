"""The tables and columns that an engine itself reports for a query, and how they join with those of its text.

The engine has resolved every name, so its flows into a column replace the direct ones of the text. The text alone has
conditions, and how a value is changed.
"""

from collections.abc import Iterable
from dataclasses import replace

from whence.capture.sql.events.events import EVIDENCE, SqlFacts
from whence.capture.sql.events.naming import Naming
from whence.capture.sql.lineage import Table
from whence.capture.sql_log.query import Parts, Reported
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import column_lineage

_DIRECT = "DIRECT"
_Key = tuple[str, str, str]
"""A column: the namespace and the name of its dataset, and its name."""


def reported_facts(reported: Reported, naming: Naming) -> SqlFacts | None:
    """The facts that the engine reports; None if it reports none. Its own tables are left out."""
    inputs, outputs = (_names(some, naming) for some in (reported.inputs, reported.outputs))
    if not (inputs or outputs):
        return None
    edges: dict[DatasetName, dict[Edge, None]] = {name: {} for name in outputs}
    for flow in reported.flows:
        source, target = naming.dataset(Table(flow.source)), naming.dataset(Table(flow.target))
        if source and target:
            ends = FieldName(source, flow.source_column), FieldName(target, flow.target_column)
            edges.setdefault(target, {})[Edge(source=ends[0], target=ends[1], type=_DIRECT)] = None
    return SqlFacts(
        inputs=tuple(sorted(inputs)),
        outputs={
            output: {"columnLineage": column_lineage(output_edges)} if output_edges else {}
            for output, output_edges in sorted(edges.items())
        },
        job_facets={},
        run_facets={},
        direct={output: frozenset(_fields(output_edges)) for output, output_edges in edges.items()},
    )


def _names(tables: Iterable[Parts], naming: Naming) -> set[DatasetName]:
    return {name for parts in tables if parts and (name := naming.dataset(Table(parts)))}


def combine_facts(facts: SqlFacts, reported: SqlFacts, *, is_whole: bool = False, is_direct: bool = False) -> SqlFacts:
    """The facts of a text with those of its engine. `is_whole`: the text was read, and names all that it touches.

    Then a column that is only in a condition, as of the right side of EXCEPT, is no source of values, and of the
    engine's tables only those count that its columns come from: others are behind a view of the text, unless the engine
    itself leaves those out (`is_direct`).
    """
    if is_whole and not is_direct and facts.outputs:
        reported = _without_hidden_tables(reported, facts)
    outputs = {
        name: _combine_facets(dict(facts.outputs.get(name, {})), reported.outputs.get(name, {}), is_whole)
        for name in sorted({*facts.outputs, *reported.outputs})
    }
    job_facets = dict(facts.job_facets)
    if "lineage" in job_facets:
        job_facets["lineage"] = _combine_explicit(job_facets["lineage"], reported)
    return replace(
        facts,
        inputs=tuple(sorted({*facts.inputs, *reported.inputs})),
        outputs=outputs,
        direct={name: facts.direct.get(name, _NONE) | reported.direct.get(name, _NONE) for name in outputs},
        job_facets=job_facets,
    )


def _without_hidden_tables(reported: SqlFacts, facts: SqlFacts) -> SqlFacts:
    sources = {
        DatasetName(source["namespace"], source["name"])
        for facets in reported.outputs.values()
        for column in facets.get("columnLineage", {}).get("fields", {}).values()
        for source in column["inputFields"]
    }
    return replace(reported, inputs=tuple(name for name in reported.inputs if name in sources or name in facts.inputs))


def _combine_explicit(facet: Json, reported: SqlFacts) -> Json:
    """The explicit lineage facet with the engine's columns: where it is, the columns of the outputs do not count."""
    entries = {(one["namespace"], one["name"]): one for one in facet["entries"]}
    for name, facets in reported.outputs.items():
        known = facets.get("columnLineage", {}).get("fields", {})
        key = (name.namespace, name.name)
        entry = entries.get(key, {"type": "DATASET", "namespace": name.namespace, "name": name.name})
        fields = entry.get("fields", {})
        combined = {
            column: {
                "inputs": [
                    {"type": "DATASET", **source} for source in _combine_sources(_as_sources(fields.get(column)), one)
                ]
            }
            for column, one in known.items()
        }
        if combined:
            entries[key] = {**entry, "fields": {**fields, **combined}}
    return {**facet, "entries": list(entries.values())}


def _as_sources(field: Json | None) -> Json:
    return {"inputFields": field["inputs"] if field else ()}


_NONE: frozenset[str] = frozenset()


def _combine_facets(of_text: Json, of_engine: Json, is_whole: bool) -> Json:
    known: Json = of_engine.get("columnLineage", {}).get("fields", {})
    if not known:
        return of_text
    facet: Json = of_text.get("columnLineage") or of_engine["columnLineage"]
    fields: Json = facet["fields"]
    indirect = frozenset(map(_key, facet.get("dataset", ()))) if is_whole else frozenset[_Key]()
    combined = {
        column: {"inputFields": _combine_sources(fields.get(column), one, indirect)} for column, one in known.items()
    }
    members = {"columnLineage": {**facet, "fields": dict(sorted({**fields, **combined}.items()))}}
    if evidence := of_text.get(EVIDENCE):
        doubts = [one for one in evidence["doubts"] if one["field"] not in known]
        members[EVIDENCE] = {**evidence, "doubts": doubts}
    return {**of_text, **members}


def _combine_sources(of_text: Json | None, of_engine: Json, indirect: frozenset[_Key] = frozenset()) -> list[Json]:
    """The sources of one column: the engine's, as the text describes them, and the text's conditions.

    `indirect`: the columns of filters, joins and groups, which influence all rows. They are sources of values only if
    the text of this column names them as such.
    """
    described = {_key(one): one for one in (of_text or {}).get("inputFields", ())}
    engines = {_key(one): one for one in of_engine["inputFields"]}
    others = indirect if described else frozenset()
    direct = [described.get(key, one) for key, one in engines.items() if key in described or key not in others]
    conditions = (_conditions(one) for key, one in described.items() if key not in engines)
    return [*direct, *(one for one in conditions if one["transformations"])]


def _conditions(source: Json) -> Json:
    return {**source, "transformations": [one for one in source["transformations"] if one["type"] != _DIRECT]}


def _key(source: Json) -> _Key:
    return source["namespace"], source["name"], source.get("field", "")


def _fields(edges: Iterable[Edge]) -> Iterable[str]:
    return (edge.target.field for edge in edges if isinstance(edge.target, FieldName))
