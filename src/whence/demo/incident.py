"""`whence demo --incident`: the raw data loses values; what the incident says of it, and its end when it is mended.

The pipeline really reads an export with nulls, the running server finds out by the objectives that are declared to it,
and every answer is that of a command of Whence, run as a user would run it.
"""

import argparse
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from whence.cli.process.process_group import signal_group
from whence.client.acts.incidents import IncidentDetail
from whence.client.questions import Client, connect
from whence.death_signal import with_parent
from whence.demo.tour import Tour, say
from whence.errors import WhenceError
from whence.model.names import DatasetName
from whence.query.answers.instants import iso

FILE = "slos.yaml"
ROOT, COLUMN, PREDICTION = "raw/usage_logs", "last_login", "predictions.churn_probability"
SYMPTOMS = ("silver/sessions", "gold/features")
"""Datasets downstream with an objective of their own."""
RUNS = ("week", "null-burst", "first")
PATIENCE_SECONDS = 180
_PAUSE_SECONDS = 0.5
_LAST_LINE = "publish:"
"""How the last line of each run of the pipeline begins."""

SLOS_YAML = """version: 1
service: churn
slos:
  - name: logins have a time
    dataset: "{raw/usage_logs}"
    indicator: {{quality: {{metric: nullValues, column: last_login, unit: percent, mustBeLessThan: 1}}}}
    objective: {{target: 99%}}
    alerting: [{{bad: 1, of: 1, notify: page}}]
  - name: sessions have a login
    dataset: "{silver/sessions}"
    indicator: {{quality: {{metric: nullValues, column: last_login, unit: percent, mustBeLessThan: 1}}}}
    objective: {{target: 99%}}
  - name: half of the customers log in within 30 days
    dataset: "{gold/features}"
    indicator: {{measurement: {{metric: quantiles.0.5, column: days_since_last_login, mustBeLessThan: 30}}}}
    objective: {{target: 99%}}
"""
"""The objectives of three datasets, whose node ids are to be filled in by their paths."""


def main() -> None:
    """Show the incident from the command line."""
    parser = argparse.ArgumentParser(prog="python -m whence.demo.incident", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the demo's data directory")
    parser.add_argument("--url", required=True, help="the address of the demo's server")
    parser.add_argument("--folder", type=Path, required=True, help="the directory to make, for all files")
    arguments = parser.parse_args()
    try:
        with connect(arguments.url) as questions:
            show_incident(Tour(data=arguments.data, folder=arguments.folder, say=say), questions)
    except WhenceError as error:
        sys.exit(str(error))


@dataclass(slots=True)
class Clock:
    """Seconds since something began, and how many of them the pipeline itself ran."""

    began: float = field(default_factory=time.monotonic)
    pipeline: float = 0.0

    @property
    def seconds(self) -> float:
        """Seconds until now."""
        return time.monotonic() - self.began


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The churn pipeline as a process that waits before each of its runs."""

    process: "subprocess.Popen[str]"
    say: Callable[[str], None]

    def run(self, clock: Clock) -> None:
        """Let it run once, and print its lines. Raises WhenceError if it fails."""
        began = time.monotonic()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            self.say(f"  {line.rstrip()}")
            if line.startswith(_LAST_LINE):
                clock.pipeline += time.monotonic() - began
                return
        raise WhenceError(f"the churn pipeline failed (exit code {self.process.wait()})")


def show_incident(tour: Tour, questions: Client) -> IncidentDetail:
    """Run the pipeline well, with nulls, and well again, and print what Whence says of it. Returns the incident at its
    end.

    Raises WhenceError, also if there is no incident within PATIENCE_SECONDS of a run, or if it does not end.
    """
    tour.folder.mkdir(parents=True)
    with _pipeline(tour, questions.url) as pipeline:
        tour.say("(a week of exports is checked, and the pipeline runs on the last)")
        pipeline.run(Clock())
        _declare(tour, questions.url)
        tour.say(
            "\n# The apps for phones get a release that forgets the time of the login. The pipeline runs as always:"
        )
        clock, since = Clock(), time.time_ns() // 1_000
        with _watched(tour, questions, clock):
            pipeline.run(clock)
        found = _wait(questions, lambda one: _is_whole(tour, one), "is no incident of all that is wrong")
        _ask(tour, found, since, questions.url)
        tour.say("\n# The release is mended, and the next export is whole again:")
        pipeline.run(clock)
        ended = _wait(questions, lambda one: one.incident.state == "resolved", "is no end of the incident")
    tour.run("incident", "list", "--all")
    tour.say(f"Resolved {clock.seconds:.0f} s after the first export with nulls; {clock.pipeline:.0f} s of it the")
    tour.say("pipeline ran, with the nulls and once more without them. Its start and its first run are not counted.")
    return ended


@contextmanager
def _pipeline(tour: Tour, url: str) -> Iterator[Pipeline]:
    """The pipeline, which ends with this process."""
    command = [sys.executable, "-m", "whence.demo.pipeline", "--data", str(tour.data / "churn"), "--url", url]
    with subprocess.Popen(
        [*command, "--stepwise", "--run", *RUNS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=with_parent(signal.SIGKILL),
    ) as process:
        try:
            yield Pipeline(process, tour.say)
        except BaseException:
            signal_group(process.pid, signal.SIGKILL)
            raise


def _declare(tour: Tour, url: str) -> None:
    tour.say("\n# What the owners of three of its datasets promise, as a file, and declared to the server:")
    text = SLOS_YAML.format_map({path: str(_dataset(tour, path)) for path in (ROOT, *SYMPTOMS)})
    (tour.folder / FILE).write_text(text, "utf-8")
    tour.say(text.rstrip())
    tour.run("slo", "apply", FILE, "--url", url)


@contextmanager
def _watched(tour: Tour, questions: Client, clock: Clock) -> Iterator[None]:
    """Print when an incident pages, while something else goes on; for that alone nothing fails here."""

    def watch() -> None:
        with suppress(WhenceError), connect(questions.url) as own:
            one = _wait(own, lambda one: one.incident.notify == "page", "is no incident that pages").incident
            tour.say(f"! {clock.seconds:.1f} s: incident {one.id} pages {one.routed_to}: {one.title}")

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield
    thread.join()


def _wait(questions: Client, is_reached: Callable[[IncidentDetail], bool], what: str) -> IncidentDetail:
    """The only incident, when it is as wanted. Raises WhenceError if that takes too long."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < give_up:
        for one in questions.incidents(states=("open", "acknowledged", "mitigated", "resolved")).incidents:
            if is_reached(found := questions.incident(one.id)):
                return found
        time.sleep(_PAUSE_SECONDS)
    raise WhenceError(f"there {what} after {PATIENCE_SECONDS} s; `whence incident list --all` has those that there are")


def _is_whole(tour: Tour, one: IncidentDetail) -> bool:
    wanted = {str(_dataset(tour, path)) for path in SYMPTOMS}
    return one.incident.root == str(_dataset(tour, ROOT)) and wanted <= set(one.incident.symptoms)


def _ask(tour: Tour, found: IncidentDetail, since: int, url: str) -> None:
    id_ = found.incident.id
    tour.say("\n# Three datasets are wrong, and there is one incident: of the one where it began, for its owner")
    tour.run("incident", "show", id_)
    tour.say(f"(in the browser: {url}/ui/incident?incident={id_})")
    tour.say("\n# Asked from the other end: why are the predictions wrong?")
    tour.run("diagnose", PREDICTION, "--since", iso(since))
    tour.say("\n# What would have to be paused, so that it goes no further?")
    tour.run("contain", "plan", f"{ROOT}.{COLUMN}")


def _dataset(tour: Tour, path: str) -> DatasetName:
    return DatasetName("file", str(tour.data / "churn" / path))


if __name__ == "__main__":
    main()
