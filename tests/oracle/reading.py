"""What one event says: subject, mentions, facets, runs, aliases, lineage (docs/explanation/state.md, "Facts")."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b, md5
from typing import Any

from oracle.canonical import canonical
from oracle.life import Mention, life_sets, unwritten
from oracle.lineage import (
    Output,
    Sets,
    clean,
    column_edges,
    dataset_lineage,
    gaps_admitted,
    incomplete_columns,
    job_lineage,
    placeholders,
    reported,
)
from oracle.naming import dataset_node, job_node, with_meant_paths
from oracle.nodes import Node, whole
from oracle.sql import DEFINITION, UNRELATED, Mentioned, Spoken, comparison, known_as, read_sql
from oracle.withholding import applied, by_a_person, vouches

Json = dict[str, Any]

STATES = ("OTHER", "START", "RUNNING", "COMPLETE", "ABORT", "FAIL")
"""A state's place here is its value."""

UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ](.+))?")
CLOCK = re.compile(r"(\d\d:\d\d)(:\d\d)?([.,]\d+)?\s*([Zz]|[+-]\d\d(?::?\d\d)?)?")


MEASURING = (
    ("input", "inputStatistics"),
    ("input", "dataQualityMetrics"),
    ("output", "outputStatistics"),
    ("output", "dataQualityMetrics"),
)
"""By role, the facets whose numbers are measurements."""

CHECKING = ("input", "dataQualityAssertions")
"""Role and name of the facet by which a run checks what it reads."""


@dataclass
class Reading:
    """One event, read. `facets`: (subject, role, dataset or None, key, canonical payload or "" for deleted)."""

    key: str
    kind: str
    time: int
    producer: str
    state: int
    subject: Node
    owner: Node
    rank: int = 0
    datasets: set[Node] = field(default_factory=set)
    jobs: set[Node] = field(default_factory=set)
    declared: set[Node] = field(default_factory=set)
    schemas: set[tuple[Node, str]] = field(default_factory=set)
    containers: set[tuple[str, Node]] = field(default_factory=set)
    streaming: bool = False
    partial: bool = False
    facets: list[tuple[Node, str, Node | None, str, str]] = field(default_factory=list)
    aliases: set[tuple[Node, Node, str]] = field(default_factory=set)
    sets: Sets = field(default_factory=set)
    declares: bool = False
    ends: bool = False

    def measuring(self) -> Iterator[tuple[str, Node, str, str]]:
        """Role, dataset, facet and payload of the facets that measure."""
        places = [(role, node, name, payload) for _, role, node, name, payload in self.facets if node]
        yield from (one for one in places if one[::2] in MEASURING)
        if self.kind == "dataset":
            own = [payload for node, _, _, name, payload in self.facets if name == "dataQualityMetrics" and payload]
            yield from (("", self.subject, "dataQualityMetrics", payload) for payload in own)

    def checked(self) -> set[Node]:
        """The inputs with a result of a check."""
        reports = [(node, payload) for _, role, node, name, payload in self.facets if (role, name) == CHECKING]
        return {node for node, payload in reports if node and payload and _has_result(json.loads(payload))}


def _has_result(facet: object) -> bool:
    results = facet.get("assertions") if isinstance(facet, dict) else None
    return isinstance(results, list) and any(
        isinstance(one, dict) and isinstance(one.get("assertion"), str) and isinstance(one.get("success"), bool)
        for one in results
    )


def read(body: bytes) -> Reading:
    """The reading of one accepted event's body."""
    sent = json.loads(body.decode())
    event = with_meant_paths(applied(sent))
    has_run, has_job = (isinstance(event.get(key), dict) for key in ("run", "job"))
    make = _run_event if has_run and has_job else _job_event if has_job else _dataset_event
    reading = make(event)
    reading.key = blake2b(canonical(sent).encode(), digest_size=16).hexdigest()
    _mention_ends(reading)
    return reading


def micros(moment: str) -> int:
    """ISO 8601 as microseconds since 1970 UTC: no offset is UTC, digits after the sixth are cut."""
    date = DATE.fullmatch(moment.strip())
    clock = CLOCK.fullmatch((date and date[2]) or "00:00")
    assert date
    assert clock
    since = datetime.fromisoformat(f"{date[1]} {clock[1]}{clock[2] or ''}").replace(tzinfo=UTC) - EPOCH
    cut = f"{clock[3]}000000"[1:7] if clock[3] else "0"
    return (since - _offset(clock[4] or "Z")) // timedelta(microseconds=1) + int(cut)


def _offset(text: str) -> timedelta:
    if text in "Zz":
        return timedelta(0)
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    return timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1)


def _run_event(event: Json) -> Reading:
    job, run = job_node(event["job"]), _run_node(event["run"], event["job"])
    assert job
    assert run
    kind = event.get("eventType")
    reading = _start(event, kind="run", subject=run, owner=job, state=STATES.index(kind) if kind in STATES else 0)
    reading.rank = min(reading.state, 3)
    reading.jobs.add(job)
    run_facets = facets_of(event["run"])
    for key, facet in run_facets.items():
        reading.facets.append((run, "", None, key, canonical(facet)))
    _parent(reading, run, run_facets.get("parent"))
    reading.partial = "extractionError" in run_facets or _timed_out(run_facets.get("debug", {}))
    _job(reading, job, event)
    for role in ("input", "output"):
        for node, one in _named(event.get(f"{role}s")):
            _dataset(reading, node, one)
            facets = facets_of(one, f"{role}Facets")
            for key in ("dataQualityAssertions", "dataQualityMetrics"):
                if not gone(facets_of(one).get(key, DELETED)):
                    facets = {key: facets_of(one)[key]} | facets
            for key, facet in facets.items():
                reading.facets.append((run, role, node, key, canonical(facet)))
    return reading


def _job_event(event: Json) -> Reading:
    job = job_node(event["job"])
    assert job
    reading = _start(event, kind="job", subject=job, owner=job, state=0)
    reading.jobs.add(job)
    reading.declares = True
    lifecycle = facets_of(event["job"]).get("whence_lifecycle", DELETED)
    reading.ends = not gone(lifecycle) and lifecycle.get("state") == "DECOMMISSIONED"
    _job(reading, job, event)
    for node, one in [*_named(event.get("inputs")), *_named(event.get("outputs"))]:
        _dataset(reading, node, one)
    for node, one in _named([event.get("dataset")]):
        _dataset(reading, node, one)
    return reading


def _dataset_event(event: Json) -> Reading:
    dataset = dataset_node(event["dataset"])
    assert dataset
    reading = _start(event, kind="dataset", subject=dataset, owner=dataset, state=0)
    _dataset(reading, dataset, event["dataset"])
    facet = facets_of(event["dataset"]).get("lineage")
    if facet is not None:
        reading.declares = True
        admitted = gaps_admitted(dataset, dataset, incomplete_columns(facets_of(event["dataset"])))
        reading.sets = set() if gone(facet) else dataset_lineage(dataset, facet) | admitted
    mention = _mention(dataset, event["dataset"])
    reading.declares |= mention.change == "DROP" or mention.before is not None
    reading.sets |= life_sets([mention])
    return reading


def _start(event: Json, kind: str, subject: Node, owner: Node, state: int) -> Reading:
    producer = clean(event.get("producer"))
    return Reading(
        key="",
        kind=kind,
        time=micros(event["eventTime"]),
        producer=producer,
        state=state,
        subject=subject,
        owner=owner,
    )


def _run_node(run: object, job: object) -> Node | None:
    within, run_id = job_node(job), run.get("runId") if isinstance(run, dict) else None
    if not (within and isinstance(run_id, str) and UUID.fullmatch(run_id)):
        return None
    return ("run", run_id.lower(), *within[1:])


def _named_run(run: object, job: object, inner: Node) -> Node | None:
    """A containing run whose id is no UUID."""
    run_id, within = run.get("runId") if isinstance(run, dict) else None, job_node(job)
    if not within or not isinstance(run_id, str) or not run_id:
        return None
    dag = within[2][: within[2].rindex(".")] if "." in within[2] else within[2]
    digest = md5(bytes.fromhex("6ba7b8119dad11d180b400c04fd430c8") + f"{dag}.{run_id}".encode()).hexdigest()
    variant = "89ab"[int(digest[16], 16) % 4]
    parts = (digest[:8], digest[8:12], "3" + digest[13:16], variant + digest[17:20], digest[20:])
    return ("run", "-".join(parts), within[1], dag if within[1:] == inner[2:] else within[2])


def _timed_out(debug: Json) -> bool:
    """The Spark listener says so in its debug facet's logs."""
    logs = debug.get("logs")
    return isinstance(logs, list) and any(isinstance(one, str) and one.startswith("Incomplete lineage") for one in logs)


def facets_of(entity: Json, place: str = "facets") -> dict[str, Json]:
    """The facets that are objects, by key."""
    facets = entity.get(place)
    return {key: facet for key, facet in facets.items() if isinstance(facet, dict)} if isinstance(facets, dict) else {}


DELETED = {"_deleted": True}


def gone(facet: Json) -> bool:
    """A `_deleted` marker says nothing."""
    return facet.get("_deleted") is True


def _parent(reading: Reading, run: Node, parent: Json | None) -> None:
    if parent is None:
        return
    root = parent.get("root")
    for relation, one in (("parent", parent), ("root", root if isinstance(root, dict) else {})):
        container = _run_node(one.get("run"), one.get("job")) or _named_run(one.get("run"), one.get("job"), run)
        if container:
            reading.jobs.add(("job", *container[2:]))
        if container and container != run:
            reading.containers.add((relation, container))


def _job(reading: Reading, job: Node, event: Json) -> None:
    facets = facets_of(event["job"])
    for key, facet in _with_stewards_tags(facets, "job").items():
        if key not in OWN_FACETS:
            reading.facets.append((job, "", None, key, "" if gone(facet) else canonical(facet)))
    if not gone(facets.get("jobType", DELETED)):
        reading.streaming = str(facets["jobType"].get("processingType")).upper() in ("STREAMING", "SERVICE")
    inputs = {node for node, _ in _named(event.get("inputs"))}
    columns = {node: Output([], set(), []) for node, _ in _named(event.get("outputs"))}
    for node, one in _named(event.get("outputs")):
        of_output, listed = facets_of(one), set[str]()
        if not gone(of_output.get("schema", DELETED)):
            listed = set(_columns(of_output["schema"].get("fields"), ""))
            columns[node].listed |= listed
        if not gone(of_output.get("columnLineage", DELETED)):
            columns[node].facets.append(of_output["columnLineage"])
            columns[node].placeholders.append(placeholders(of_output["columnLineage"], listed))
        columns[node].incomplete |= incomplete_columns(of_output)
    explicit = facets.get("lineage", DELETED)
    mentioned = _mentioned(event)
    read, written = ([mentioned[node] for node in dict.fromkeys(some)] for some in (inputs, columns))
    query = _query(facets.get("sql", DELETED)) if columns else None
    spoken = read_sql(query, read, written) if query else Spoken()
    names = known_as(mentioned)
    mentions = [_mention(node, one) for node, one in _named(event.get("outputs"))]
    with_columns = {
        node for node, one in columns.items() if any(True for facet in one.facets for _ in column_edges(node, facet))
    }
    bare = unwritten(mentions, bool(inputs), with_columns)
    if query and DEFINITION.fullmatch(query) and spoken.status != UNRELATED and not inputs:
        bare |= columns.keys() - with_columns
    filled = {node: one for node, one in columns.items() if node not in bare}
    entries = None if gone(explicit) else explicit
    reading.sets = job_lineage(job, inputs, filled, entries, spoken, names, reading.partial)
    if reading.kind == "run":
        reading.sets |= life_sets(mentions)
    if query:
        own = _sql_facets(reading.sets, spoken, names)
        reading.facets += [(job, "", None, key, canonical(facet) if facet else "") for key, facet in own]
    if "sql" in facets and gone(facets["sql"]):
        reading.facets += [(job, "", None, key, "") for key in OWN_FACETS]


OWN_FACETS = ("whence_sqlLineage", "whence_sqlComparison")


def _mention(node: Node, one: Json) -> Mention:
    facets = facets_of(one)
    facet, schema = facets.get("lifecycleStateChange", DELETED), facets.get("schema", DELETED)
    before = None if gone(facet) else next((old for old, _ in _named([facet.get("previousIdentifier")])), None)
    columns = set() if gone(schema) else set(_columns(schema.get("fields"), ""))
    others = {
        link
        for key in ("symlinks", "whence_aliases")
        for link, identifier in ([] if gone(facets.get(key, DELETED)) else _named(facets[key].get("identifiers")))
        if link != node and identifier.get("type") not in ("whence:cut", "whence:joined")
    }
    return Mention(node, None if gone(facet) else facet, before, columns, others)


def _query(facet: Json) -> str | None:
    query = facet.get("query")
    return query if not gone(facet) and isinstance(query, str) and query.strip() else None


def _mentioned(event: Json) -> dict[Node, Mentioned]:
    found: dict[Node, Mentioned] = {}
    for node, one in [*_named(event.get("inputs")), *_named(event.get("outputs"))]:
        mentioned, facets = found.setdefault(node, Mentioned(node)), facets_of(one)
        for key in ("symlinks", "whence_aliases"):
            links = [] if gone(facets.get(key, DELETED)) else _named(facets[key].get("identifiers"))
            words = ("whence:cut", "whence:joined")
            mentioned.others |= {
                link for link, identifier in links if link != node and identifier.get("type") not in words
            }
        schema = facets.get("schema", DELETED)
        mentioned.columns = (not gone(schema) and list(_columns(schema.get("fields"), ""))) or mentioned.columns
    return found


def _sql_facets(sets: Sets, spoken: Spoken, names: dict[Node, Node]) -> Iterator[tuple[str, Json]]:
    yield "whence_sqlLineage", {"dialect": "spark", "status": spoken.status, "unmatched": spoken.unmatched}
    by_dataset = reported(sets)
    compared = [comparison(one, spoken, by_dataset[one], names) for one in sorted(spoken.edges) if one in by_dataset]
    if compared:
        totals = [sum(one.pop("counts")[place] for one in [dict(one) for one in compared]) for place in range(3)]
        words = ("agreed", "missingInReport", "missingInParse")
        outputs = [{key: value for key, value in one.items() if key != "counts"} for one in compared]
        yield "whence_sqlComparison", dict(zip(words, totals, strict=True)) | {"outputs": outputs}
    elif spoken.status == UNRELATED:
        yield "whence_sqlComparison", {}


def _with_stewards_tags(facets: dict[str, Json], kind: str) -> dict[str, Json]:
    """What a steward says of tags holds until a steward says otherwise, and what a person assigned until somebody says
    what people assigned.
    """
    others = {key: facet for key, facet in facets.items() if key not in {"whence_stewardTags", "whence_assignedTags"}}
    tags = facets.get("tags")
    if tags is None or tags.get("whence_withheld") is True:
        return others
    listed = tags.get("tags") if not gone(tags) else None
    given = [one for one in listed if isinstance(one, dict) and vouches(one, kind)] if isinstance(listed, list) else []
    by_people = [one for one in given if by_a_person(one)]
    by_tools = [one for one in given if one not in by_people]
    read = {**others, "whence_stewardTags": {"tags": by_tools} if by_tools else DELETED}
    if by_people or gone(tags) or tags.get("whence_complete") is True:
        read["whence_assignedTags"] = {"tags": by_people} if by_people else DELETED
    return read


def _dataset(reading: Reading, node: Node, dataset: Json) -> None:
    reading.datasets.add(node)
    facets = facets_of(dataset)
    for key, facet in _with_stewards_tags(facets, "dataset").items():
        reading.facets.append((node, "", None, key, "" if gone(facet) else canonical(facet)))
    if not gone(facets.get("schema", DELETED)):
        columns = {("field", *node[1:], name) for name in _columns(facets["schema"].get("fields"), "")}
        reading.declared |= columns
        reading.schemas |= {(node, canonical(facets["schema"]))} if columns else set()
    for key in ("symlinks", "whence_aliases"):
        links = [] if gone(facets.get(key, DELETED)) else _named(facets[key].get("identifiers"))
        for alias, link in links:
            if alias != node:
                reading.datasets.add(alias)
                reading.aliases.add((node, alias, clean(link.get("type"))[:200]))


def _columns(fields: object, prefix: str) -> Iterator[str]:
    for one in _items(fields):
        if isinstance(one.get("name"), str) and one["name"]:
            yield prefix + one["name"]
            yield from _columns(one.get("fields"), f"{prefix}{one['name']}.")


def _mention_ends(reading: Reading) -> None:
    for *_, edges in reading.sets:
        for source, target, *_ in edges:
            for end in (source, target):
                (reading.jobs if end[0] == "job" else reading.datasets).add(whole(end))


def _named(value: object) -> list[tuple[Node, Json]]:
    return [(node, one) for one in _items(value) if (node := dataset_node(one))]


def _items(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
