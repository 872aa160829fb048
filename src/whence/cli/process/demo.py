"""`whence demo`: runs a real PySpark pipeline twice, the second time with a change, and answers questions from its
events.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.text import Text

from whence.cli import settings
from whence.cli.answers.ask import QuestionCommand, show_downstream, show_upstream
from whence.cli.answers.local.store import StoreQuestions
from whence.cli.client import Client
from whence.cli.output.streams import Exit, Rows
from whence.cli.process.process_group import signal_group
from whence.cli.process.serve import OPEN, plan, running
from whence.death_signal import with_parent
from whence.errors import WhenceError
from whence.model.names import FieldName
from whence.query.answers.instants import iso
from whence.query.answers.values import BOTH, DIRECT, Question
from whence.query.lookup.resolve import resolve
from whence.query.questions.lineage import upstream
from whence.store.connection.engine import sqlite_url
from whence.store.snapshots.graph import open_graph
from whence_client.process.settings import OUTBOX

PREDICTION = "predictions.churn_probability"
LOGIN = "raw/usage_logs.last_login"
STAGES = 6
"""The number of lines that one run of the pipeline prints: one for each stage, and one about the publication."""
PATIENCE_SECONDS = 120
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Invitation:
    """What to ask at the end, and what to look at in the browser."""

    questions: tuple[str, ...]
    shown: str


_ON_CALL = "Dashboards › On call shows"
_QUESTIONS = (
    f"upstream {PREDICTION} --types both",
    f"path {LOGIN} {PREDICTION}",
    "search login",
    f"impact {LOGIN}",
)
PIPELINE = Invitation(_QUESTIONS, f"{_ON_CALL} what the altered join broke, and where that was stopped")
INCIDENT = Invitation(_QUESTIONS, f"{_ON_CALL} what was wrong")
STACK = Invitation(
    (
        "upstream 'dashboards/1 Retention' --types both",
        "impact raw/payments.csv.cents",
        "card models/churn/1",
    ),
    "search for Retention, and follow its lineage upstream",
)


@dataclass(frozen=True, slots=True)
class DemoRun:
    """One demo: its data, and its console."""

    data: Path
    console: Console

    @property
    def store(self) -> str:
        """The store's URL: always a separate file; the environment's is ignored."""
        return sqlite_url(self.data / "store.db")

    def say(self, text: str, style: str = "") -> None:
        """Print one line."""
        self.console.print(Text(text, style), soft_wrap=True)

    def title(self, text: str) -> None:
        """Print a title."""
        self.console.print()
        self.say(text, "bold cyan")

    @contextmanager
    def timed(self, done: str) -> Iterator[None]:
        """Show progress, then the duration; that it failed, if it raises."""
        began, outcome, style = time.monotonic(), "failed after", "bold red"
        try:
            with self.console.status("…"):
                yield
            outcome, style = "", ""
        finally:
            seconds = f"{time.monotonic() - began:.1f} s"
            self.say(f"  {done}: {f'{outcome} {seconds}'.strip()}", style)


def demo(
    data: Path | None,
    *,
    once: bool,
    port: int,
    gate: bool = False,
    governance: bool = False,
    incident: bool = False,
    stack: bool = False,
) -> Exit:
    """Run the demo in `data`, or in a temporary directory that is deleted at the end. Raises WhenceError.

    `stack`: Airflow, dbt, MLflow and Superset in place of the pipeline on Spark, and nothing else. `gate`: also judge
    a pull request. `governance`: also follow personal data, and prove it. `incident`: in place of the altered join,
    lose values in the raw data, and mend it. SIGTERM, SIGINT and SIGHUP end it at any moment, with all processes that
    it started.
    """
    for number in _ENDING:
        signal.signal(number, _end)
    for name in (settings.STORE, settings.LOG, settings.ARCHIVE, settings.TABLES):
        os.environ.pop(name, None)
    with ExitStack() as contexts:
        chosen = data or Path(contexts.enter_context(tempfile.TemporaryDirectory(prefix="whence-demo-")))
        tour = DemoRun(chosen.expanduser().absolute(), Console(highlight=False))
        # The user's outbox may hold events of other jobs for this address; they are not part of the demo.
        os.environ[OUTBOX] = str(tour.data / "outbox")
        tour.title("Starting Whence: the collector, the event log, and the pipeline on Spark")
        tour.say(f"(all its data is in {tour.data}{'' if data else ', until it ends'})", "dim")
        with tour.timed("ready"):
            url = contexts.enter_context(running(plan(tour.data, tour.store, port=0 if once else port, guard=OPEN)))
        if stack:
            _show_stack(tour, url)
        elif incident:
            _show_incident(tour, url)
        else:
            between = _run_pipeline(tour, url)
            _wait_for_events(tour, url)
            _answer(tour, between)
        if gate:
            _judge_pull_request(tour, "" if once else url)
        if governance:
            _follow_personal_data(tour, url)
        if not once:
            _stay(tour, url, STACK if stack else INCIDENT if incident else PIPELINE)
    return Exit.OK


def _end(number: int, _frame: object) -> NoReturn:
    """Unwind, so that all started processes end. Another signal does not interrupt that."""
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)
    with suppress(OSError):  # the terminal may be gone
        os.write(2, b"\nstopping; this takes some seconds\n")
    sys.exit(128 + number)


def _run_pipeline(tour: DemoRun, url: str) -> int:
    """Run the pipeline twice. Returns the time between the two runs, in microseconds."""
    tour.title("Running a churn pipeline on PySpark, whose plans are captured")
    tour.say("raw CSV → bronze → silver → features → model → predictions, each arrow a Spark application;")
    tour.say("then the customers to call are published to a CRM: to staging, and if the scores are good, to production")
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
def _pipeline(tour: DemoRun, url: str) -> Iterator[Iterator[str]]:
    arguments = ["whence.demo.pipeline", "--data", str(tour.data / "churn"), "--url", url]
    noise = tour.data / "run" / "churn.log"
    with _beside([*arguments, "--run", "first", "altered"], noise) as process:
        assert process.stdout is not None
        yield iter(process.stdout)
    if process.returncode:
        last = noise.read_text(errors="replace").strip().splitlines()[-5:]
        failure = f"the churn pipeline failed (exit code {process.returncode}); its log ends:"
        raise WhenceError("\n".join([failure, *last]))


@contextmanager
def _beside(arguments: list[str], noise: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a module of Whence as a process that ends with this one. `noise` gets its errors."""
    with (
        noise.open("w") as log,
        subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            process_group=0,
            preexec_fn=with_parent(signal.SIGKILL),
        ) as process,
    ):
        try:
            yield process
        except BaseException:
            signal_group(process.pid, signal.SIGKILL)
            raise


def _wait_for_events(tour: DemoRun, url: str) -> None:
    client = Client(url)
    with tour.timed("everything it said is in the graph"):
        reply = client.get(f"/api/v2/progress?wait_for=head&timeout={PATIENCE_SECONDS}")
        client.close()
        if not reply.json.get("reached"):
            raise WhenceError(f"the store did not get all events in {PATIENCE_SECONDS} s; {tour.data}/run has the logs")


def _answer(tour: DemoRun, between: int) -> None:
    command = QuestionCommand(questions=StoreQuestions(tour.store), output=Rows.TEXT)
    tour.title("Where does the churn probability come from?")
    tour.say(f"$ whence upstream {PREDICTION}", "dim")
    show_upstream(command, PREDICTION)
    values = _raw_columns(tour, Question(types=DIRECT))
    tour.say(f"So it is made of the values of {len(values)} raw columns: {', '.join(sorted(values))}.")
    tour.title("What breaks if the last login changes?")
    tour.say(f"$ whence downstream {LOGIN}", "dim")
    show_downstream(command, LOGIN)
    tour.title("What was that before the last run changed a join? (filters and join keys included)")
    tour.say(f"$ whence upstream {PREDICTION} --types both --as-of {iso(between)}", "dim")
    _show_change(tour, between)


def _show_change(tour: DemoRun, between: int) -> None:
    before, now = (_raw_columns(tour, Question(types=BOTH, at=at)) for at in (between, None))
    tour.say(f"Then {len(before)} raw columns had a part in it, now {len(now)}:")
    for name in sorted(before | now):
        mark, style = (" ", "") if name in before & now else ("+", "green") if name in now else ("-", "red")
        tour.say(f"  {mark} {name}", style)


def _raw_columns(tour: DemoRun, question: Question) -> set[str]:
    """The raw columns upstream of the prediction."""
    with open_graph(tour.store) as graph:
        answer = upstream(graph, resolve(graph, PREDICTION), question)
    fields = [one.name for one in answer.nodes if isinstance(one.name, FieldName)]
    raw = [one for one in fields if Path(one.dataset.name).parent.name == "raw"]
    return {f"{Path(one.dataset.name).name}.{one.field}" for one in raw}


def _judge_pull_request(tour: DemoRun, url: str) -> None:
    """`url`: where the verdict is recorded; empty: nowhere, for nobody can look at its page."""
    tour.title("What does a pull request break that renames a column of the call list?")
    tour.say("(the list has a contract, and the report in production reads that column)", "dim")
    folder = tour.data / "pull-request"
    _show(tour, "pull_request", folder, "--store", tour.store, *(["--url", url] if url else []))


def _follow_personal_data(tour: DemoRun, url: str) -> None:
    tour.title("Where is personal data in all this, what may not be, and how is it proven?")
    _show(tour, "governance", tour.data / "governance", "--data", str(tour.data), "--url", url)


def _show_incident(tour: DemoRun, url: str) -> None:
    tour.title("Running a churn pipeline on PySpark, until its raw data loses values")
    _show(tour, "incident", tour.data / "incident", "--data", str(tour.data), "--url", url)


def _show_stack(tour: DemoRun, url: str) -> None:
    tour.title("Running a shop: Airflow, pandas, dbt on DuckDB, MLflow and Superset, each with its own capture")
    _show(tour, "stack", tour.data / "shop", "--data", str(tour.data), "--url", url)


def _show(tour: DemoRun, module: str, folder: Path, *arguments: str) -> None:
    """Run a module of the demo that makes a folder, and print what it prints."""
    shutil.rmtree(folder, ignore_errors=True)
    noise = tour.data / "run" / f"{module}.log"
    with _beside([f"whence.demo.{module}", "--folder", str(folder), *arguments], noise) as process:
        assert process.stdout is not None
        for line in process.stdout:
            tour.say(line.rstrip("\n"))
    if process.returncode:
        last = noise.read_text(errors="replace").strip() or f"{noise} has no reason"
        raise WhenceError(f"{module} failed (exit code {process.returncode}): {last}")


def _stay(tour: DemoRun, url: str, invitation: Invitation) -> None:
    tour.title(f"Whence is up at {url}: open it in a browser. Until Ctrl-C, ask it more from another terminal, too:")
    for question in invitation.questions:
        tour.say(f"  {_command()} {question} --data {tour.data}")
    tour.say(f"In the browser, {invitation.shown}.")
    with suppress(SystemExit):
        _measure(tour)
        signal.pause()
    tour.say("")


def _command() -> str:
    """The command to call this program from the same directory: by its name only if the shell finds it."""
    return "whence" if shutil.which("whence") else sys.argv[0]


def _measure(tour: DemoRun) -> None:
    """Measure once what the dashboards show and a schedule measures later. The demo continues if that fails."""
    noise = tour.data / "run" / "kpis.log"
    commands = ("blast", "archive", "publish")
    codes = [_run(["whence.cli", command, "--data", str(tour.data)], noise) for command in commands]
    tour.say(f"No KPIs were measured: see {noise}" if any(codes) else "Dashboards › Overview has its KPIs now.", "dim")


def _run(arguments: list[str], noise: Path) -> int:
    """Run a module of Whence to its end. Returns its exit code."""
    with _beside(arguments, noise) as process:
        process.communicate()
    return process.returncode
