"""`whence demo`: a real PySpark pipeline run twice, the second time altered, and what its events alone can answer."""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from whence.cli.ask import Asking, show_downstream, show_upstream
from whence.cli.client import Client
from whence.cli.output import Exit, Output
from whence.cli.serve import plan, running
from whence.cli.settings import log_directory, store_url
from whence.errors import WhenceError
from whence.log import committed
from whence.model.names import FieldName
from whence.query.answers import BOTH, Question
from whence.query.instants import iso
from whence.query.lineage import upstream
from whence.query.resolve import resolve
from whence.store.graph import open_graph

PREDICTION = "predictions.churn_probability"
LOGIN = "raw/usage_logs.last_login"
STAGES = 5
"""Lines that one run of the pipeline prints, one a stage."""
PATIENCE_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Tour:
    """One demo: where its data lies, and where it speaks."""

    data: Path
    console: Console

    @property
    def store(self) -> str:
        """The store's URL."""
        return store_url(self.data)

    def say(self, text: str, style: str = "") -> None:
        """One line to the reader."""
        self.console.print(Text(text, style), soft_wrap=True)

    def title(self, text: str) -> None:
        """The beginning of a part."""
        self.console.print()
        self.say(text, "bold cyan")


def demo(data: Path | None, *, once: bool, port: int) -> Exit:
    """Run the tour in `data`, or in a temporary directory that goes when it ends. Raises WhenceError."""
    with ExitStack() as stack:
        chosen = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="whence-demo-")))
        tour = Tour(chosen.expanduser().absolute(), Console(highlight=False))
        tour.title("Starting Whence: the collector, the event log, and the pipeline on Spark")
        tour.say(f"All data is in {tour.data}", "dim")
        url = stack.enter_context(running(plan(tour.data, tour.store, port=0 if once else port)))
        between = _run_pipeline(tour, url)
        _wait_for_events(tour, url)
        _answer(tour, between)
        if not once:
            _stay(tour, url)
    return Exit.OK


def _run_pipeline(tour: Tour, url: str) -> int:
    """Run the pipeline twice; the time between the two runs, in microseconds."""
    tour.title("Running a churn pipeline on PySpark, with the OpenLineage listener on: raw CSV → … → model → predictions")
    tour.say("(the first time, Spark fetches the listener: 42 MB)", "dim")
    between = 0
    with _pipeline(tour, url) as lines:
        for number, line in enumerate(lines):
            if number == STAGES:
                tour.say("…and once more, with one join altered:")
            tour.say(f"  {line.rstrip()}")
            if number == STAGES - 1:
                between = time.time_ns() // 1_000
    return between


@contextmanager
def _pipeline(tour: Tour, url: str) -> Iterator[Iterator[str]]:
    command = [sys.executable, "-m", "whence.demo.pipeline", "--data", str(tour.data / "churn"), "--url", url]
    noise = tour.data / "run" / "churn.log"
    with (
        noise.open("w") as log,
        subprocess.Popen([*command, "--run", "first", "altered"], stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        yield iter(process.stdout)
    if process.returncode:
        last = noise.read_text(errors="replace").strip().splitlines()[-5:]
        raise WhenceError("\n".join([f"the churn pipeline failed (exit code {process.returncode}); its log ends:", *last]))


def _wait_for_events(tour: Tour, url: str) -> None:
    end = committed(log_directory(tour.data))
    client = Client(url)
    reply = client.get(f"/api/v2/progress?wait_for={end}&timeout={PATIENCE_SECONDS}")
    client.close()
    if reply.status != 200:
        raise WhenceError(f"the pipeline did not reach {end} of the log in {PATIENCE_SECONDS} s; see {tour.data}/run")


def _answer(tour: Tour, between: int) -> None:
    asking = Asking(store_url=tour.store, output=Output.TEXT)
    tour.title("Where does the churn probability come from?")
    tour.say(f"$ whence upstream {PREDICTION}", "dim")
    show_upstream(asking, PREDICTION, Question())
    tour.title("What breaks if the last login changes?")
    tour.say(f"$ whence downstream {LOGIN}", "dim")
    show_downstream(asking, LOGIN, Question())
    tour.title("What was that before the last run changed a join?")
    tour.say(f"$ whence upstream {PREDICTION} --types both --as-of {iso(between)}", "dim")
    _show_change(tour, between)


def _show_change(tour: Tour, between: int) -> None:
    before, now = _raw_columns(tour, between), _raw_columns(tour, None)
    tour.say(f"  Then {len(before)} raw columns had a part in it, now {len(now)}:")
    for name in sorted(before | now):
        mark, style = (" ", "") if name in before & now else ("+", "green") if name in now else ("-", "red")
        tour.say(f"  {mark} {name}", style)


def _raw_columns(tour: Tour, at: int | None) -> set[str]:
    """The raw columns from which the prediction derives, by value or by influence."""
    with open_graph(tour.store) as graph:
        answer = upstream(graph, resolve(graph, PREDICTION), Question(types=BOTH, at=at))
    fields = [one.node for one in answer.nodes if isinstance(one.node, FieldName)]
    return {f"raw/{Path(one.dataset.name).name}.{one.field}" for one in fields if Path(one.dataset.name).parent.name == "raw"}


def _stay(tour: Tour, url: str) -> None:
    tour.title(f"Whence is up at {url}, until Ctrl-C. Ask it more from another terminal:")
    for question in (f"upstream {PREDICTION} --types both", f"path {LOGIN} {PREDICTION}", "search login", "dump"):
        tour.say(f"  whence {question} --data {tour.data}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        signal.pause()
    except KeyboardInterrupt:
        tour.say("")
