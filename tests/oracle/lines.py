"""The dump: every line that docs/explanation/state.md ("The dump") asks for, from all events at once."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256
from typing import Any

from oracle.canonical import canonical
from oracle.holding import Held, LineageSet, Span, Statement, known_best, spans
from oracle.measuring import measured
from oracle.nodes import Node, dropping_number, ending_number, netstrings, run_number, text, whole
from oracle.reading import OWN_FACETS, STATES, Reading, read
from oracle.sql import UNJUDGED

Line = dict[str, Any]
Stamp = tuple[int, str]


def dump(bodies: Iterable[bytes]) -> list[str]:
    """The lines of the state that these accepted events mean, sorted. Order and duplicates do not matter."""
    readings = list({reading.key: reading for reading in map(read, bodies)}.values())
    drops = _drops(readings)
    histories = spans([*_run_statements(readings), *_declarations(readings), *_ended(readings, drops)])
    lines = [
        *map(_event, readings),
        *_seen(readings),
        *_fields(readings),
        *_runs(readings),
        *_facets(readings),
        *_measurements(readings),
        *_checked_datasets(readings),
        *_alias_lines(readings),
        *_schemas(readings),
        *_tags(readings),
        *_set_lines(readings),
        *_run_lineage(readings),
        *_declared(readings),
        *_span_lines(histories),
        *_edges(histories),
        *_groups(readings),
        *_dropped(drops),
    ]
    return sorted(map(canonical, lines))


def comparable(lines: Iterable[str], besides: Collection[str] = ()) -> list[str]:
    """The lines with what the reader words itself blanked (events' warnings, problems of SQL), and JSON written one
    way. `besides`: the jobs whose SQL the oracle does not judge.
    """
    return sorted(canonical(without_words(json.loads(line), besides)) for line in lines)


def unjudged(lines: Iterable[str]) -> set[str]:
    """By the oracle's dump: the jobs whose SQL it does not judge."""
    facets = (line for line in map(json.loads, lines) if line.get("name") == OWN_FACETS[0] and line.get("payload"))
    return {facet["subject"] for facet in facets if facet["payload"]["status"] == UNJUDGED}


WORDED = ("_producer", "_schemaURL", "reader", "problems")


def without_words(line: Line, besides: Collection[str] = ()) -> Line:
    """A line of the dump without what is worded by the reader itself."""
    if line.get("fact") == "facet" and line["name"] in OWN_FACETS and line["payload"]:
        kept = {} if line["subject"] in besides else line["payload"]
        return line | {"payload": {key: value for key, value in kept.items() if key not in WORDED}}
    return line | {"warnings": []} if line.get("fact") == "event" else line


def _event(reading: Reading) -> Line:
    subject, state = text(reading.subject), STATES[reading.state]
    head = {
        "fact": "event",
        "key": reading.key,
        "kind": reading.kind,
        "time": reading.time,
        "producer": reading.producer,
    }
    return head | {"state": state, "subject": subject, "warnings": []}


def _seen(readings: list[Reading]) -> Iterator[Line]:
    times: dict[Node, list[int]] = defaultdict(list)
    for reading in readings:
        for node in reading.datasets | reading.jobs:
            times[node].append(reading.time)
    for node, some in times.items():
        yield {"fact": node[0], "node": text(node), "first_seen": min(some), "last_seen": max(some)}


def _fields(readings: list[Reading]) -> Iterator[Line]:
    declared = {one for reading in readings for one in reading.declared}
    ends = {end for reading in readings for *_, edges in reading.sets for edge in edges for end in edge[:2]}
    for node in declared | {end for end in ends if end[0] == "field"}:
        yield {"fact": "field", "node": text(node), "declared": node in declared}


def _by_run(readings: list[Reading]) -> dict[Node, list[Reading]]:
    runs: dict[Node, list[Reading]] = defaultdict(list)
    for reading in readings:
        if reading.kind == "run":
            runs[reading.subject].append(reading)
    return runs


def _runs(readings: list[Reading]) -> Iterator[Line]:
    runs = _by_run(readings)
    contained = {
        (run, container, relation) for run in runs for one in runs[run] for relation, container in one.containers
    }
    for run in {*runs, *(container for _, container, _ in contained)}:
        yield _run(run, runs.get(run, []))
    for run, container, relation in contained:
        yield {"fact": "containment", "run": text(run), "container": text(container), "relation": relation}


def _run(run: Node, events: list[Reading]) -> Line:
    state, at = _final(events) if events else (0, None)
    times = [one.time for one in events]
    return {
        "fact": "run",
        "node": text(run),
        "state": STATES[state],
        "state_at": at,
        "started_at": min((one.time for one in events if one.state == 1), default=None),
        "seen_from": min(times, default=None),
        "seen_to": max(times, default=None),
        "streaming": any(one.streaming for one in events),
        "partial": any(one.partial for one in events),
        "terminals": [STATES[state] for state in sorted({one.state for one in events if one.state >= 3})],
    }


def _final(events: list[Reading]) -> tuple[int, int]:
    """The run's state and its time: a COMPLETE undoes a FAIL or ABORT only if the last START stands between them."""
    _, at, state = max((one.rank, one.time, one.state) for one in events)
    bad = max(((one.time, one.state) for one in events if STATES[one.state] in ("ABORT", "FAIL")), default=None)
    begun = max((one.time for one in events if STATES[one.state] == "START"), default=None)
    if STATES[state] != "COMPLETE" or bad is None or (begun is not None and bad[0] < begun <= at):
        return state, at
    return bad[1], bad[0]


def _facets(readings: list[Reading]) -> Iterator[Line]:
    written: dict[tuple[Node, str, Node | None, str], list[tuple[int, int, str, str]]] = defaultdict(list)
    for one in readings:
        for subject, role, dataset, name, payload in one.facets:
            written[subject, role, dataset, name].append((one.time, one.rank, one.key, payload))
    for (subject, role, dataset, name), writers in written.items():
        time, rank, key, payload = max(writers)
        head = {"fact": "facet", "subject": text(subject), "role": role, "dataset": text(dataset) if dataset else None}
        value = json.loads(payload) if payload else None
        yield head | {"name": name, "time": time, "rank": rank, "key": key, "payload": value}


def _measurements(readings: list[Reading]) -> Iterator[Line]:
    reports: dict[tuple[Node | None, str, Node, str, str], list[tuple[int, int, str, str]]] = defaultdict(list)
    for one in readings:
        for role, dataset, facet, payload in one.measuring():
            run = one.subject if one.kind == "run" else None
            reports[run, "" if run else one.key, dataset, role, facet].append((one.time, one.rank, one.key, payload))
    for (run, _, dataset, role, facet), some in reports.items():
        time, rank, key, payload = max(some)
        head = {"fact": "measurement", "run": text(run) if run else None, "dataset": text(dataset), "role": role}
        for column, metric, value in measured(facet, json.loads(payload)):
            line = {"facet": facet, "column": column, "metric": metric, "value": value}
            yield head | line | {"time": time, "rank": rank, "key": key}


def _checked_datasets(readings: list[Reading]) -> Iterator[Line]:
    times: dict[tuple[Node, Node], list[int]] = defaultdict(list)
    for one in readings:
        for dataset in one.checked():
            times[one.owner, dataset].append(one.time)
    for (job, dataset), some in times.items():
        line = {"fact": "checked_dataset", "job": text(job), "dataset": text(dataset)}
        yield line | {"first_seen": min(some)}


def _alias_lines(readings: list[Reading]) -> Iterator[Line]:
    stamps: dict[tuple[Node, Node, str], list[Stamp]] = defaultdict(list)
    for reading in readings:
        for one in reading.aliases:
            stamps[one].append((reading.time, reading.key))
    for (dataset, alias, kind), some in stamps.items():
        line = {"fact": "alias", "dataset": text(dataset), "alias": text(alias), "type": kind}
        yield line | {"first": list(min(some)), "last": list(max(some))}


def _schemas(readings: list[Reading]) -> Iterator[Line]:
    stamps: dict[tuple[Node, str], list[Stamp]] = defaultdict(list)
    for reading in readings:
        for one in reading.schemas:
            stamps[one].append((reading.time, reading.key))
    for (dataset, payload), some in stamps.items():
        line = {"fact": "schema", "dataset": text(dataset), "payload": json.loads(payload)}
        yield line | {"first": list(min(some)), "last": list(max(some))}


def _tags(readings: list[Reading]) -> Iterator[Line]:
    """Each report of tags is a line, whether it changes them or not."""
    for one in readings:
        reported: dict[tuple[Node, str], str] = {}
        for subject, _, _, name, payload in one.facets:
            if subject[0] != "run" and name in {"tags", "whence_stewardTags", "whence_assignedTags"}:
                reported[subject, name] = max(reported.get((subject, name), ""), payload)
        for (subject, name), payload in reported.items():
            line = {"fact": "tags", "subject": text(subject), "name": name, "time": one.time, "rank": one.rank}
            yield line | {"key": one.key, "payload": json.loads(payload) if payload else None}


def _sets_of(reading: Reading) -> set[LineageSet]:
    return {(reading.owner, *one) for one in reading.sets}


def _set_lines(readings: list[Reading]) -> Iterator[Line]:
    stamps: dict[LineageSet, list[Stamp]] = defaultdict(list)
    for reading in readings:
        for one in _sets_of(reading):
            stamps[one].append((reading.time, reading.key))
    for one, some in stamps.items():
        owner, output, level, origin, _ = one
        line: Line = {"fact": "set", "set": digest(one), "owner": text(owner)}
        line |= {
            "output": text(output) if output else None,
            "level": level,
            "origin": origin,
            "edges": _edge_values(one),
        }
        yield line | {"first": list(min(some)), "last": list(max(some))}


def digest(one: LineageSet) -> str:
    """The content address of a lineage set."""
    owner, output, level, origin, _ = one
    head = [text(owner), text(output) if output else "", level, origin]
    return sha256(netstrings([*head, *(part for edge in _edge_texts(one) for part in edge)])).hexdigest()[:32]


def _edge_texts(one: LineageSet) -> list[list[str]]:
    return sorted([text(source), text(target), *how] for source, target, *how in one[4])


def _edge_values(one: LineageSet) -> list[list[Any]]:
    return [[*ends, masking == "masked", description] for *ends, masking, description in _edge_texts(one)]


def _run_lineage(readings: list[Reading]) -> Iterator[Line]:
    for run, events in _by_run(readings).items():
        for lineage_set in {one for event in events for one in _sets_of(event)}:
            time, key = max((event.time, event.key) for event in events if lineage_set in _sets_of(event))
            yield {"fact": "run_lineage", "run": text(run), "set": digest(lineage_set), "time": time, "key": key}


def _declared(readings: list[Reading]) -> Iterator[Line]:
    for one in readings:
        if one.declares:
            line = {"fact": "declaration", "key": one.key, "owner": text(one.owner), "time": one.time}
            yield line | {"sets": sorted(map(digest, _sets_of(one)))}


def _run_statements(readings: list[Reading]) -> Iterator[Statement]:
    for run, events in _by_run(readings).items():
        sets = known_best([_sets_of(event) for event in events])
        if not sets:
            continue
        state, state_at = _final(events)
        streaming = any(event.streaming for event in events)
        complete = STATES[state] == "COMPLETE"
        yield Statement(
            owner=events[0].owner,
            aspect="observed" if any(output for _, output, *_ in sets) else "read",
            at=state_at if complete and not streaming else min(event.time for event in events),
            number=run_number(run),
            confirmed=complete or (streaming and STATES[state] in ("START", "RUNNING")),
            sets=sets,
        )


def _declarations(readings: list[Reading]) -> Iterator[Statement]:
    for one in readings:
        number = int(one.key[:16], 16) - (1 << 63)
        if one.ends:
            numbers = {aspect: ending_number(one.key, aspect) for aspect in ("observed", "read")}
            for aspect, its in {**numbers, "declared": number}.items():
                nothing: Held = frozenset()
                yield Statement(owner=one.owner, aspect=aspect, at=one.time, number=its, confirmed=True, sets=nothing)
        elif one.declares:
            sets = frozenset(its for its in _sets_of(one) if its[3] != "dropped")
            yield Statement(owner=one.owner, aspect="declared", at=one.time, number=number, confirmed=True, sets=sets)


Drop = tuple[Node, int, int]
"""A dataset, when it was dropped, and the statement id of what dropped it."""


def _drops(readings: list[Reading]) -> list[Drop]:
    """What completed runs and dataset events drop."""
    found: list[Drop] = []
    for run, events in _by_run(readings).items():
        state, at = _final(events)
        if STATES[state] == "COMPLETE":
            found += [(its, at, run_number(run)) for its in {its for one in events for its in _marked(one)}]
    for one in readings:
        if one.kind == "dataset":
            found += [(its, one.time, int(one.key[:16], 16) - (1 << 63)) for its in _marked(one)]
    return found


def _marked(reading: Reading) -> set[Node]:
    return {output for output, _, origin, _ in reading.sets if origin == "dropped" and output}


def _ended(readings: list[Reading], drops: list[Drop]) -> Iterator[Statement]:
    """A drop ends what any owner wrote into the dataset, unless another dataset had been made of it."""
    timed_sets = [(reading.time, one) for reading in readings for one in _sets_of(reading)]
    for dataset, at, by in drops:
        if any(
            time <= at and output not in (None, dataset) and dataset in _sources(one)
            for time, one in timed_sets
            for output in one[1:2]
        ):
            continue
        for owner in {one[0] for _, one in timed_sets if one[1] == dataset and one[3] != "dropped"}:
            for aspect in ("observed", "declared"):
                its = dropping_number(by, dataset, owner, aspect)
                nothing: Held = frozenset()
                yield Statement(owner, aspect, at=at, number=its, confirmed=True, sets=nothing, drops=dataset)


def _sources(one: LineageSet) -> set[Node]:
    return {whole(source) for source, *_ in one[4]}


def _dropped(drops: list[Drop]) -> Iterator[Line]:
    for dataset in {dataset for dataset, *_ in drops}:
        yield {"derived": "dropped", "dataset": text(dataset), "at": max(at for its, at, _ in drops if its == dataset)}


def _span_lines(histories: dict[tuple[Node, str], list[Span]]) -> Iterator[Line]:
    for (owner, aspect), history in histories.items():
        for start, end, confirmed, sets in history:
            line = {"derived": "validity_interval", "owner": text(owner), "aspect": aspect, "from": start, "to": end}
            yield line | {"confirmed": confirmed, "sets": sorted(map(digest, sets))}


def _edges(histories: dict[tuple[Node, str], list[Span]]) -> Iterator[Line]:
    for (owner, aspect), history in histories.items():
        for _, end, confirmed, sets in history:
            if end is None:
                of_graph = {one for one in sets if one[3] not in ("unreported", "incomplete")}
                yield from _current(text(owner), aspect, confirmed, of_graph)


def _current(owner: str, aspect: str, confirmed: bool, sets: Iterable[LineageSet]) -> Iterator[Line]:
    for one in sets:
        head = {
            "derived": "edge",
            "owner": owner,
            "aspect": aspect,
            "set": digest(one),
            "origin": one[3],
            "confirmed": confirmed,
        }
        for source, target, kind, subtype, masking, description in _edge_texts(one):
            ends = {"source": source, "target": target, "type": kind, "subtype": subtype}
            yield head | ends | {"masking": masking == "masked", "description": description}


def _groups(readings: list[Reading]) -> Iterator[Line]:
    aliases = {one for reading in readings for one in reading.aliases}
    words = [
        (reading.time, reading.key, kind, frozenset((dataset, alias)))
        for reading in readings
        for dataset, alias, kind in reading.aliases
        if kind in ("whence:cut", "whence:joined")
    ]
    last = {ends: kind for _, _, kind, ends in sorted(words, key=lambda word: word[:3])}
    aliases = {
        (dataset, alias, kind)
        for dataset, alias, kind in aliases
        if kind not in ("whence:cut", "whence:joined") and last.get(frozenset((dataset, alias))) != "whence:cut"
    }
    tables: dict[Node, set[Node]] = defaultdict(set)
    for dataset, alias, kind in aliases:
        if kind == "TABLE":
            tables[dataset].add(alias)
    named = set().union(*tables.values())
    paths = {alias for _, alias, kind in aliases if kind == "LOCATION"} - named
    group = {node: {node} for dataset, alias, _ in aliases for node in (dataset, alias)}
    for dataset, alias, kind in aliases:
        if kind == "TABLE" and len(tables[dataset]) > 1:
            continue
        joined = group[dataset] | group[alias]
        for member in joined:
            group[member] = joined
    for members in {frozenset(some) for some in group.values() if len(some) > 1}:
        first = min(members, key=lambda node: (node in paths, node not in named, node))
        yield {"derived": "alias_group", "representative": text(first), "members": sorted(map(text, members))}
