"""`whence decommission`: sends the event that ends a job through the collector."""

import json
from dataclasses import dataclass

from rich.text import Text

from whence.cli.client import Client
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import ApiError, NodeNotFoundError
from whence.govern.stale_jobs import StalenessRule, list_stale_jobs, make_decommission_event
from whence.model.names import JobName
from whence.query.lookup.resolve import resolve
from whence.store.snapshots.graph import existing_store, open_graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """The jobs that end at a time (µs), and the reason: one job, or all jobs that were not seen for too long."""

    job: str | None
    patience: StalenessRule | None
    reason: str
    at: int


def show_decommissioned(store_url: str, url: str, due: Due, output: Output) -> Exit:
    """Send one event per job. Raises NodeNotFoundError, ApiError."""
    jobs = _jobs(store_url, due)
    client = Client(url)
    try:
        sent = [(job, _send(client, url, job, due)) for job in jobs]
    finally:
        client.close()
    if output is Output.JSON:
        print_document({"decommissioned": [{"job": str(job), "position": position} for job, position in sent]})
    else:
        print_lines(Text(f"decommissioned {safe(str(job))}") for job, _ in sent)
        print_lines([] if sent else [Text("No job has been unseen for so long.")])
    return Exit.OK


def _jobs(store_url: str, due: Due) -> list[JobName]:
    if due.patience is not None:
        return [one.job for one in list_stale_jobs(existing_store(store_url), due.at, due.patience)]
    with open_graph(store_url) as graph:
        found = resolve(graph, due.job or "")
    if not isinstance(found, JobName):
        raise NodeNotFoundError(f"job {due.job}", (str(found),))
    return [found]


def _send(client: Client, url: str, job: JobName, due: Due) -> str:
    reason = due.reason or (f"not seen for {due.patience.periods:g} of its periods" if due.patience else "")
    reply = client.post("/api/v1/lineage", json.dumps(make_decommission_event(job, due.at, reason)).encode())
    if reply.status != 201:
        raise ApiError(url, str(reply.json.get("reason")))
    if reply.json.get("restricted"):
        raise ApiError(url, f"{job}: {reply.json['warnings'][0]} (`whence access grant`)")
    return str(reply.json.get("position") or "")
