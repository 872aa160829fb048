"""Run the shop's stack for real, with the capture of each system on, and trace a chart back to a raw column."""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from whence.cli.client import Client
from whence.demo.stack.dashboards import CHART, DASHBOARD, MEASURE, USER, Superset
from whence.demo.stack.environments import make_environments
from whence.demo.stack.orchestration import NAMESPACE, Orchestration
from whence.demo.stack.raw import write_raw
from whence.demo.stack.servers import serve_mlflow, serve_superset
from whence.demo.tour import Tour, say
from whence.errors import WhenceError

RAW = "raw/payments.csv.cents"
SHOWN = f"1 {DASHBOARD}.{MEASURE}"
STATIONS: Mapping[str, Callable[[str], bool]] = {
    "the raw file": lambda node: node.startswith("datasetField:file:") and "/raw/" in node,
    "pandas in a task of Airflow": lambda node: node.startswith("datasetField:file:") and "/lake/" in node,
    "dbt on DuckDB": lambda node: "customer_spend" in node,
    "the model in MLflow": lambda node: node.startswith("datasetField:mlflow:"),
    "its scores": lambda node: "churn_scores" in node,
    "the chart in Superset": lambda node: f"charts/1 {CHART}" in unquote(node),
    "the dashboard": lambda node: f"dashboards/1 {DASHBOARD}" in unquote(node),
}
"""What a path from a raw column to the dashboard has to go through, each found by the capture of its system."""
_FILES = Path(__file__).with_name("shop")
_PATIENCE_SECONDS = 300


def main() -> None:
    """Show the stack from the command line."""
    parser = argparse.ArgumentParser(prog="python -m whence.demo.stack", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the demo's data directory")
    parser.add_argument("--url", required=True, help="the address of the demo's server")
    parser.add_argument("--folder", type=Path, required=True, help="the directory to make, for all files")
    arguments = parser.parse_args()
    try:
        show_stack(Tour(data=arguments.data, folder=arguments.folder, say=say), arguments.url)
    except WhenceError as error:
        sys.exit(str(error))


def show_stack(tour: Tour, url: str) -> None:
    """Run everything once and print where the dashboard comes from. Raises WhenceError.

    `url`: the address of the demo's server. The directory of the tour is made.
    """
    pipeline, superset = make_environments(tour.say)
    shutil.copytree(_FILES, tour.folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tour.folder / "lake").mkdir()
    write_raw(tour.folder / "raw")
    tour.say("Starting a tracking server of MLflow")
    with serve_mlflow(pipeline, tour.folder) as mlflow:
        with _timed(tour, "the DAG"):
            tour.say(
                "Airflow runs a DAG: a task with pandas, then dbt build, then two scripts with scikit-learn and MLflow"
            )
            Orchestration(environment=pipeline, folder=tour.folder, url=url, mlflow=mlflow).run(tour.say)
        tour.run("capture", "run", "mlflow", "--set", f"uri={mlflow}", "--job-namespace", NAMESPACE, "--url", url)
    with _timed(tour, "the dashboard"), serve_superset(superset, tour.folder) as served:
        tour.say("Superset gets a chart of the scores, on a dashboard")
        served.make_dashboard(tour.folder / "shop.duckdb")
        _poll_superset(tour, served, url)
    _wait_for_events(tour, url)
    _trace(tour)


def _poll_superset(tour: Tour, served: Superset, url: str) -> None:
    os.environ.update(WHENCE_SUPERSET_USER=USER, WHENCE_SUPERSET_PASSWORD=served.password)
    tour.run("capture", "run", "superset", "--set", f"url={served.url}", "--job-namespace", NAMESPACE, "--url", url)


def _wait_for_events(tour: Tour, url: str) -> None:
    tour.run("capture", "flush", "--strict")
    client = Client(url, patience=_PATIENCE_SECONDS)
    reply = client.get(f"/api/v2/progress?wait_for=head&timeout={_PATIENCE_SECONDS}")
    client.close()
    if not reply.json.get("reached"):
        raise WhenceError(f"the store did not get all events in {_PATIENCE_SECONDS} s; {tour.data}/run has the logs")


def _trace(tour: Tour) -> None:
    tour.say("\n# Where does the number on the dashboard come from?")
    tour.run("path", RAW, SHOWN, "--types", "direct")
    found = json.loads(tour.read("upstream", SHOWN, "--types", "direct", "-o", "json"))
    nodes = {one["node"] for one in found["nodes"]}
    missing = [name for name, is_station in STATIONS.items() if not any(map(is_station, nodes))]
    if missing:
        raise WhenceError(f"the lineage of {SHOWN} lacks {', '.join(missing)}; {tour.folder} has the logs")
    tour.say(f"So it goes through {', '.join(STATIONS)}: no event was written by hand.")


@contextmanager
def _timed(tour: Tour, what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    tour.say(f"  {what}: {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
