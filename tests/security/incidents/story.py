"""A shop whose load of orders fails: events, and what people do about it."""

import json
from collections.abc import Sequence
from typing import Any

from security.slos.test_slos import HOUR, declared, fresh
from whence.govern.incidents.records import act_event
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName, parse_node
from whence.model.records.incidents import IncidentActRecord
from whence.openlineage.authority.restrictions import person_uri
from whence.openlineage.write import dataset, facet, run_event

PROD, STAGING, DEV, HR = (f"postgres://{name}:5432" for name in ("prod", "staging", "dev", "hr"))
ORDERS, REVENUE, BOARD = (
    DatasetName(PROD, name) for name in ("shop.orders", "shop.revenue", "board\x1b[31m\u202e<b>%2F/é\n")
)
SALARIES = DatasetName(HR, "salaries.secret")
COPY = DatasetName(STAGING, "shop.orders")
LOAD, BUILD, DRAW = (JobName("airflow", name) for name in ("load", "build", "draw"))
PAY, CLONE = JobName("hr", "secret_pay"), JobName("dev", "clone")


class Runs:
    """Events of runs, each with an id of its own."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(
        self,
        at: int,
        job: JobName,
        inputs: Sequence[DatasetName] = (),
        outputs: Sequence[DatasetName] = (),
        state: RunState = RunState.COMPLETE,
        checks: Sequence[dict[str, Any]] = (),
    ) -> bytes:
        self.count += 1
        run = RunName(f"01890000-0000-7000-8000-{self.count:012}", job)
        facets = {"dataQualityAssertions": facet("DataQualityAssertionsDatasetFacet", assertions=list(checks))}
        ends = [dataset(one, inputFacets=facets if checks else {}) for one in inputs]
        event = run_event(at, state, run, inputs=ends, outputs=list(map(dataset, outputs)))
        return json.dumps(event).encode()


def shop_events(runs: Runs, at: int) -> list[bytes]:
    """Orders are loaded, revenue is built from them and from salaries, and a board from that; all is well until the
    load fails, 2.5 h ago.
    """
    return [
        runs(at - 6 * HOUR, LOAD, outputs=[ORDERS]),
        runs(at - 6 * HOUR, PAY, outputs=[SALARIES]),
        runs(at - 6 * HOUR, CLONE, outputs=[COPY]),
        runs(at - 5 * HOUR, BUILD, [ORDERS, SALARIES], [REVENUE]),
        runs(at - 4 * HOUR, DRAW, [REVENUE], [BOARD]),
        declared(fresh(REVENUE), at - 6 * HOUR, "key:ada"),
        runs(at - 5 * HOUR // 2, LOAD, state=RunState.FAIL),
        runs(at - 2 * HOUR, LOAD, state=RunState.FAIL),
    ]


def acted(incident: dict[str, Any], act: str, at: int, person: str, **members: Any) -> bytes:
    """What a person does about an incident, as an event."""
    root = parse_node(incident["root"])
    assert isinstance(root, DatasetName)
    record = IncidentActRecord(incident=incident["id"], dataset=str(root), act=act, **members)  # type: ignore[arg-type]  # of any kind
    return json.dumps(act_event(record, root.namespace, at, person_uri(person))).encode()
