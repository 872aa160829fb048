"""`whence slo apply`, `list`, `status` and `show` ask a server: changes, pruning, and names that attack terminals."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from api.process import Api, Serving
from cli.slos.test_slo import DEV, EVIL, FRESH, HOUR, NULLS, PROD, slos
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import applying
from fixtures.waits import wait_until
from whence.cli.commands.app import app
from whence.model.events import RunState
from whence.model.names import JobName, RunName
from whence.openlineage.write import dataset, dataset_event, facet, run_event


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    """A server with a run of an hour ago in production, and with one of a day ago of a hostile name."""
    serving = Serving(tmp_path)
    made, now = serving(), time.time_ns() // 1_000
    engine = open_migrated(made.store_url)
    with applying(engine, made.data / "log"):
        for number, (name, age) in enumerate(((PROD, HOUR), (EVIL, 24 * HOUR))):
            run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("airflow", "load"))
            assert made.post(run_event(now - age, RunState.COMPLETE, run, outputs=[dataset(name)])).status == 201
        yield made
    engine.dispose()
    serving.end()


RUNBOOK = "https://wiki.example/runbooks/shop"


def with_runbook(document: str) -> str:
    """The file with a runbook for all of its objectives: some of them page."""
    return document.replace("service: shop\n", f"service: shop\nrunbook: {RUNBOOK}\n")


def ask(api: Api, *words: str, document: str = "", folder: Path | None = None) -> Result:
    file = []
    if folder is not None:
        (folder / "slos.yaml").write_text(document, "utf-8")
        file = [str(folder / "slos.yaml")]
    return CliRunner().invoke(app, ["slo", words[0], *file, *words[1:], "--url", f"http://127.0.0.1:{api.port}"])


def test_a_file_is_applied_changed_and_pruned(api: Api, tmp_path: Path) -> None:
    def apply(document: str, *options: str) -> list[str]:
        done = ask(api, "apply", *options, document=with_runbook(document), folder=tmp_path)
        assert done.exit_code == 0, done.output
        return [line.partition("  ")[0] for line in done.stdout.splitlines()]

    both = slos(("fresh", PROD, FRESH), ("nulls", PROD, NULLS))
    assert apply(both, "--dry-run") == ["declared: fresh", "declared: nulls", "nothing was sent"]
    assert apply(both) == ["declared: fresh", "declared: nulls"]
    assert apply(both) == ["unchanged: fresh", "unchanged: nulls"]
    stricter = slos(("fresh", PROD, "{freshness: {limit: 30m}}"))
    assert apply(stricter) == ["changed: fresh"]
    assert apply(stricter, "--prune") == ["ended: nulls", "unchanged: fresh"]
    # It moves to another environment, and so to another namespace: there it is new, and here it ends.
    assert apply(slos(("fresh", DEV, FRESH))) == ["declared: fresh", "ended: fresh"]
    assert [line.partition(":")[0] for line in ask(api, "list").stdout.splitlines()] == ["shop/fresh"]


def test_states_are_printed_and_decide_the_exit_code(api: Api, tmp_path: Path) -> None:
    assert ask(api, "list").stdout == "No objective is declared.\n"
    names = with_runbook(slos(("fresh", PROD, FRESH), ("\x1b[2J", EVIL, FRESH), ("nulls", PROD, NULLS)))
    assert ask(api, "apply", document=names, folder=tmp_path).exit_code == 0
    done = ask(api, "status", "-o", "json")
    assert {one["name"]: one["state"] for one in json.loads(done.stdout)["slos"]} == {
        "fresh": "holds",
        "\x1b[2J": "violated",
        "nulls": "not evaluated",
    }
    assert done.exit_code == 5
    assert ask(api, "status", "--dataset", str(PROD)).exit_code == 7
    text = "".join(ask(api, *words).stdout for words in (("list",), ("status",), ("show", "shop/\x1b[2J")))
    assert "\x1b" not in text
    assert "shop/nulls: not evaluated" in text
    assert ask(api, "status", "--as-of", "2 days ago").stdout == "No objective is declared.\n"
    shown = ask(api, "show", "fresh")
    assert shown.stdout.startswith("shop/fresh: holds since ")
    assert f"  runbook: {RUNBOOK}\n" in shown.stdout
    missing = ask(api, "show", "none")
    assert (missing.exit_code, "SLO 'none' not found." in missing.output) == (2, True)


def test_a_mistake_in_the_file_sends_nothing(api: Api, tmp_path: Path) -> None:
    wrong: Any = slos(("fresh", PROD, FRESH)).replace("target", "tarjet")
    done = ask(api, "apply", document=wrong, folder=tmp_path)
    assert (done.exit_code, "slos.yaml" in done.output) == (2, True)
    assert ask(api, "list").stdout == "No objective is declared.\n"


def test_an_objective_that_pages_needs_a_runbook(api: Api, tmp_path: Path) -> None:
    """Its own, that of the file, or that of its dataset. One that opens a ticket needs none."""
    fresh = slos(("nulls", PROD, NULLS), ("fresh", PROD, FRESH))
    done = ask(api, "apply", document=fresh, folder=tmp_path)
    assert (done.exit_code, ask(api, "list").stdout) == (2, "No objective is declared.\n")
    assert "slos.yaml:8" in done.output
    assert "needs a runbook" in " ".join(done.output.split())
    assert ask(api, "apply", document=slos(("nulls", PROD, NULLS)), folder=tmp_path).exit_code == 0
    own = fresh.replace("indicator: {freshness", f"runbook: {RUNBOOK}\n    indicator: {{freshness")
    assert ask(api, "apply", document=own, folder=tmp_path).stdout.splitlines()[0].startswith("declared: fresh")
    tags = facet("TagsDatasetFacet", tags=[{"key": "runbook", "value": RUNBOOK, "source": "USER"}])
    assert api.post(dataset_event(time.time_ns() // 1_000, EVIL, facets={"tags": tags})).status == 201
    # The answer has it as soon as it is in the store.
    tagged = slos(("hostile", EVIL, FRESH))
    wait_until(lambda: ask(api, "apply", document=tagged, folder=tmp_path).exit_code == 0)
