"""`whence gate --run-events`: a run of the head's code against empty inputs, compared with production."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from cli.gate.conftest import NOW, REMOTE, Checkout
from cli.gate.test_gate import document, gate
from fixtures.stores_of_events import apply_bodies
from whence.model.events import RunState
from whence.model.names import DatasetName, JobName, RunName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset, facet, run_event

LAKE = DatasetName("s3://lake", "shop/daily"), DatasetName("s3://lake", "shop/orders")
CI = DatasetName("file", "/tmp/ci/daily"), DatasetName("file", "/tmp/ci/orders")
BOARD = DatasetName("bi://prod", "Revenue | board")
RENAME = ("--run-rename", "file:/tmp/ci=s3://lake:shop")
FORMULA = "sum(amount)"


def source(of: DatasetName, column: str, subtype: str, formula: str, type_: str = "DIRECT") -> Json:
    how = {"type": type_, "subtype": subtype, "description": formula, "masking": False}
    return {"namespace": of.namespace, "name": of.name, "field": column, "transformations": [how]}


def written(
    names: tuple[DatasetName, DatasetName], total: str = FORMULA, condition: str = "paid", types: str = "double"
) -> list[Json]:
    """The daily revenue with its lineage, by the names of production or of CI; without a total if that is empty."""
    output, orders = names
    fields = {
        "day": {"inputFields": [source(orders, "day", "IDENTITY", "")]},
        **({"total": {"inputFields": [source(orders, "amount", "AGGREGATION", total)]}} if total else {}),
    }
    influences = [
        source(orders, "status", "FILTER", condition, "INDIRECT"),
    ]
    schema = [{"name": name, "type": types if name == "total" else "date"} for name in fields]
    facets = {
        "schema": facet("SchemaDatasetFacet", fields=schema),
        "columnLineage": facet("ColumnLineageDatasetFacet", fields=fields, dataset=influences),
    }
    return [dataset(output, facets=facets)]


def event(
    job: str, outputs: list[Json], orders: DatasetName, *, state: RunState = RunState.COMPLETE, run: int = 1
) -> bytes:
    name = RunName(f"0b5ba1e0-0000-4000-8000-{run:012}", JobName("shop", job))
    repository = f"https://{REMOTE.removeprefix('git@').removesuffix('.git').replace(':', '/')}"
    location = {"type": "git", "url": f"{repository}/blob/main/jobs/daily.py", "repoUrl": repository}
    made: dict[str, Any] = run_event(NOW + run, state, name, inputs=[dataset(orders)], outputs=outputs)
    made["job"].setdefault("facets", {})["sourceCodeLocation"] = facet(
        "SourceCodeLocationJobFacet", **location, path="jobs/daily.py"
    )
    return json.dumps(made).encode()


@pytest.fixture
def store(sqlite_store: Engine) -> str:
    """Production: the daily revenue, and a board that reads its total."""
    board = {"bars": {"inputFields": [source(LAKE[0], "total", "IDENTITY", "")]}}
    reads = [dataset(BOARD, facets={"columnLineage": facet("ColumnLineageDatasetFacet", fields=board)})]
    publish = RunName("0b5ba1e0-0000-4000-8000-000000000009", JobName("bi", "publish"))
    events = [
        event("daily.shop.daily", written(LAKE), LAKE[1]),
        json.dumps(run_event(NOW + 9, RunState.COMPLETE, publish, inputs=[dataset(LAKE[0])], outputs=reads)).encode(),
    ]
    apply_bodies(sqlite_store, events)
    return str(sqlite_store.url)


@pytest.fixture
def work(checkout: Checkout, tmp_path: Path) -> Checkout:
    """A head that changes the job's code."""
    checkout.commit({"jobs/daily.py": "# daily\n"})
    checkout.git("branch", "-f", "main")
    checkout.commit({"jobs/daily.py": "# other\n"})
    return checkout


def judged(work: Checkout, store: str, events: Sequence[bytes], *options: str) -> dict[str, Any]:
    folder = work.folder.parent / "events"
    folder.mkdir()
    (folder / "run.jsonl").write_bytes(b"\n".join(events))
    return document(work, store, "--run-events", str(folder), *(options or RENAME))


def kinds(found: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((one["node"].rpartition(":")[2], one["kind"]) for one in found["changes"])


def head(**how: str) -> bytes:
    return event("daily.ci.daily", written(CI, **how), CI[1])


def test_without_a_run_anything_may_change(work: Checkout, store: str) -> None:
    found = document(work, store)
    assert (found["verdict"], kinds(found)) == ("unknown", [("shop/daily", "unknown")])


@pytest.mark.parametrize(
    ("event_", "verdict", "changes"),
    [
        (head(), "pass", []),
        (head(total="avg(amount)"), "note", [("total", "values")]),
        (head(condition="open"), "note", [("shop/daily", "rows")]),
        (head(types="string"), "approval needed", [("total", "type")]),
        (head(total=""), "approval needed", [("total", "removed")]),
        (head(condition=""), "unknown", [("shop/daily", "unknown")]),
    ],
)
def test_a_run_says_exactly_what_changes(
    work: Checkout, store: str, event_: bytes, verdict: str, changes: list[tuple[str, str]]
) -> None:
    board = [str(BOARD)] if changes else []
    found = judged(work, store, [event_])
    assert (found["verdict"], kinds(found)) == (verdict, changes)
    assert [one["node"] for one in found["affected"]] == board


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([event("daily.ci.daily", written(CI), CI[1], state=RunState.FAIL)], id="it failed"),
        pytest.param([event("daily.ci.daily", written(CI), CI[1], state=RunState.START)], id="it did not end"),
        pytest.param([event("daily.ci.daily", [dataset(CI[0])], CI[1])], id="without columns"),
        pytest.param([event("daily.ci.other", written((BOARD, CI[1])), CI[1])], id="another output"),
    ],
)
def test_a_run_that_does_not_report_the_output_leaves_it_unknown(
    work: Checkout, store: str, events: list[bytes]
) -> None:
    found = judged(work, store, events)
    assert (found["verdict"], kinds(found)) == ("unknown", [("shop/daily", "unknown")])


@pytest.mark.parametrize(("last", "changes"), [("", [("total", "removed")]), (FORMULA, [])])
def test_the_last_run_of_a_job_counts_whoever_ran_it(
    work: Checkout, store: str, last: str, changes: list[tuple[str, str]]
) -> None:
    first = event("daily.ci.daily", written(CI, total="" if last else FORMULA), CI[1], run=1)
    second = json.loads(event("daily.ci.daily", written(CI, total=last), CI[1], run=2))
    second["job"]["namespace"] = "user_bob"
    assert kinds(judged(work, store, [json.dumps(second).encode(), first])) == changes


def test_names_that_are_not_those_of_production_leave_it_unknown(work: Checkout, store: str) -> None:
    found = judged(work, store, [head()], "--run-rename", "file:/tmp/c=s3://lake:shop")
    assert kinds(found) == [("shop/daily", "unknown")]


@pytest.mark.parametrize(
    ("text", "options"), [("", ()), ("{", ()), ('{"run": {}}', ()), ("[]", ()), ("{}", ("--run-rename", "a=b"))]
)
def test_events_that_cannot_be_read_are_no_verdict(
    work: Checkout, store: str, tmp_path: Path, text: str, options: tuple[str, ...]
) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    assert gate(work, store, "--run-events", str(path), *options).exit_code == 1
