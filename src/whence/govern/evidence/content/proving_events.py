"""The two files of a pack about its events, line by line, and what the rest of the pack says of the events."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from whence.govern.evidence.content.raw_events import EventState, PackEvent, event_document, leaves_document
from whence.govern.evidence.leaves import hash_events
from whence.model.names import JobName
from whence.openlineage.json.wire import Json, encode_canonical
from whence.query.runs.commits import FACET, Commit, commit_in


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvingEvents:
    """The lines of `events.jsonl` and `leaves.jsonl`, by the events' keys. `commits`: of the runs, by run and job."""

    lines: bytes
    leaves: bytes
    counts: Mapping[EventState, int]
    hash: str
    commits: Mapping[tuple[str, str], Commit]


def collect_events(events: Iterable[PackEvent]) -> ProvingEvents:
    """Collect the events of a pack, one at a time: thousands do not fit into memory decoded."""
    lines, leaves, hashes = [], [], {}
    counts, commits = Counter[EventState](), dict[tuple[str, str], Commit]()
    for one in events:
        counts[one.state] += 1
        lines.append(encode_canonical(event_document(one)))
        if (hash_ := one.hash) is not None:
            hashes[one.source.key] = hash_
            leaves.append(encode_canonical(leaves_document(one)))
        commits |= _commit_of(one.payload or {})
    return ProvingEvents(
        lines=_joined(lines),
        leaves=_joined(leaves),
        counts={state: counts[state] for state in EventState},
        hash=hash_events(hashes),
        commits=commits,
    )


def _joined(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _commit_of(event: Json) -> Mapping[tuple[str, str], Commit]:
    """The commit that an event reports of its run, by the run's id and the job's node id."""
    match event:
        case {"run": {"runId": str(run)}, "job": {"namespace": str(of), "name": str(name), "facets": {**facets}}}:
            commit = commit_in(facets.get(FACET))
            return {} if commit is None else {(run.lower(), str(JobName(of, name))): commit}
    return {}
