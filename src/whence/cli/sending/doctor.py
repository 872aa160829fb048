"""Diagnosis with a probe event: it is sent through every station, and each is timed."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from whence import __version__
from whence.cli.client import Client, refusal


@dataclass(frozen=True, slots=True)
class Station:
    """One step of the probe: its name, result, duration and detail."""

    name: str
    ok: bool
    seconds: float
    detail: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of a probe. `position` is its place in the log; empty if it did not arrive there.

    `status` is the API's status (`/api/v2/status`); empty if it is not available.
    """

    stations: tuple[Station, ...]
    position: str = ""
    status: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the probe arrived in the store."""
        return all(station.ok for station in self.stations)

    def __str__(self) -> str:
        lines = (
            f"{'ok  ' if one.ok else 'FAIL'} {one.name:<9} {one.seconds * 1000:6.0f} ms  {one.detail}"
            for one in self.stations
        )
        return "\n".join(lines)


def doctor(url: str, *, timeout: float = 30) -> Diagnosis:
    """Send a probe event, and wait up to `timeout` seconds until the store has it. Raises ApiError without
    an answer.
    """
    client = Client(url, patience=5)
    try:
        health = _health(client)
        began = time.monotonic()
        reply = client.post("/api/v1/lineage", probe())
        position = str(reply.json.get("position") or "")
        accepted = reply.status == 201
        outcome = f"on disk, at position {position}" if accepted else refusal(reply)
        stations = (*health, Station("accept", accepted, time.monotonic() - began, outcome))
        if not accepted:
            return Diagnosis(stations, position, _status(client))
        landing = _landing(client, position, timeout)
        return Diagnosis((*stations, landing), position, _status(client))
    finally:
        client.close()


def probe() -> bytes:
    """A job event without lineage, of a job `doctor` in the namespace `whence`: it adds no run."""
    return json.dumps(
        {
            "eventTime": datetime.now(UTC).isoformat(),
            "producer": f"https://pypi.org/project/whence/{__version__}",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent",
            "job": {"namespace": "whence", "name": "doctor"},
            "inputs": [],
            "outputs": [],
        }
    ).encode()


def _health(client: Client) -> tuple[Station, ...]:
    began = time.monotonic()
    reply = client.get("/health/ready")
    took = time.monotonic() - began
    checks = reply.json.get("checks", {})
    if not checks:
        return (
            Station("reach", False, took, f"{client.url} is not the address of a collector{_without_path(client.url)}"),
        )
    reached = Station("reach", True, took, "the API answers")
    # Their time is part of the first station: one answer has all three.
    return (reached, *(Station(name, check["ok"], 0.0, check["detail"]) for name, check in checks.items()))


def _without_path(url: str) -> str:
    """A hint at the address without its path, if it has one."""
    parts = urlsplit(url)
    return f"; did you mean {parts.scheme}://{parts.netloc}?" if parts.path.strip("/") else ""


def _status(client: Client) -> Mapping[str, Any]:
    reply = client.get("/api/v2/status")
    return reply.json if reply.status == 200 else {}


def _landing(client: Client, position: str, timeout: float) -> Station:
    began = time.monotonic()
    reply = client.get(f"/api/v2/progress?wait_for={position}&timeout={timeout:g}")
    took = time.monotonic() - began
    if reply.status != 200:
        return Station("derive", False, took, refusal(reply))
    landed = bool(reply.json["reached"])
    has = "has" if landed else "does not have"
    return Station("derive", landed, took, f"the store {has} it: it is at position {reply.json['position']}")
