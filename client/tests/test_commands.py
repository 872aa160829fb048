"""Scripts and commands as runs: their output and exit code are as without, and their lineage arrives."""

import json
import os
import signal
import subprocess
import sys
import zipapp
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fixtures.collectors import Collector, collecting

from whence_client.runs.command import traced

SOURCE = Path(__file__).parents[1] / "src"
RUN = "import sys; from whence_client.runs.command import run_command; sys.exit(run_command(sys.argv[1:]))"

CAPTURE = """
from whence_client.captures import ATTACH, Findings, Patches, Versions
from datetime import datetime, timezone
from whence_client.events.runs import run_event

class Frames:
    name, kind, versions = "frames", ATTACH, Versions("1", "2")

    def check(self):
        return Findings("1.0")

    def translate(self, record, naming):
        yield run_event("COMPLETE", naming.run("read", record), datetime(2026, 1, 1, tzinfo=timezone.utc),
                        parent=naming.parent, inputs=[naming.file(record)])

    def install(self, session):
        import frames
        def observe(result, args, kwargs):
            if args[0] == "bad":
                raise KeyError("bad")
            for event in self.translate(args[0], session.naming("frames")):
                session.emit(event, capture=self.name)
        patches = Patches(session.guard(self.name))
        patches.observe(frames, "read", observe)
        return patches.undo

capture = Frames()
"""

JOBS = {
    "ok": "import sys, frames\nprint(frames.read('/data/a.csv'), sys.argv[1:], __name__)",
    "fails": "import frames\nframes.read('/data/a.csv')\ndef load():\n    raise ValueError('no rows')\nload()",
    "exits": "raise SystemExit(3)",
    "exits_well": "import sys; sys.exit(0)",
    "exits_text": "import sys; sys.exit('bad')",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "interrupted": "raise KeyboardInterrupt",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "hooked": "import frames\nprint(frames.read('bad'))",
    "imports": "import beside, os\nprint(beside.NAME, os.path.basename(__file__))",
    "where": "import sys\nprint(sys.argv, sys.path[0], __file__, __package__, __spec__, __cached__, sorted(globals()))",
    "annotated": "def load(day: int): ...\nprint(load.__annotations__)",
    "continues": "import threading\nNAME = 1\nthreading.Timer(0.2, lambda: print(__import__('__main__').NAME)).start()",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Jobs, and a package `frames` with a capture of it."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "frames.py").write_text("def read(path):\n    return path.upper()\n")
    (tmp_path / "lib" / "frames_capture.py").write_text(CAPTURE)
    info = tmp_path / "lib" / "frames_capture-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: frames-capture\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[whence.captures]\nframes = frames_capture:capture\n")
    for name, text in JOBS.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")
    return tmp_path


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


def run(
    folder: Path, url: str, *command: str, library: bool = True, stdin: str = ""
) -> "subprocess.CompletedProcess[str]":
    paths = [str(folder / "lib"), *([str(SOURCE)] if library else [])]
    names = {"PYTHONPATH": os.pathsep.join(paths), "WHENCE_URL": url, "WHENCE_OUTBOX": str(folder / "outbox")}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {**kept, **names, "OPENLINEAGE_NAMESPACE": "shop"}
    return subprocess.run(
        command, env=environment, cwd=folder, input=stdin, capture_output=True, text=True, check=False
    )


def plain(folder: Path, job: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return run(folder, "http://127.0.0.1:9", sys.executable, f"{job}.py", *arguments)


def states(events: list[dict[str, Any]], job: str) -> list[str]:
    return [one["eventType"] for one in events if one["job"]["name"] == job]


@pytest.mark.parametrize("job", sorted({*JOBS} - {"killed", "terminated"}))
def test_a_traced_script_ends_and_prints_as_without(folder: Path, collector: Collector, job: str) -> None:
    before = plain(folder, job, "--job", "x")
    after = run(folder, collector.url, sys.executable, "-m", "whence_client.trace", f"{job}.py", "--job", "x")
    assert (after.returncode, after.stdout) == (before.returncode, before.stdout)
    assert [line for line in after.stderr.splitlines() if "lineage is incomplete" not in line] == [
        *before.stderr.splitlines()
    ]
    expected = {"fails": "FAIL", "exits": "FAIL", "exits_text": "FAIL", "interrupted": "ABORT"}.get(job, "COMPLETE")
    assert states(collector.events, job) == ["START", expected]


def test_a_script_that_is_missing_is_so_as_without(folder: Path, collector: Collector) -> None:
    before = plain(folder, "nowhere")
    after = run(folder, collector.url, sys.executable, "-m", "whence_client.trace", "nowhere.py")
    assert (after.returncode, after.stdout, after.stderr) == (before.returncode, before.stdout, before.stderr)


def test_what_a_traced_script_reads_is_within_its_run(folder: Path, collector: Collector) -> None:
    run(folder, collector.url, sys.executable, "-m", "whence_client.trace", "--job", "nightly", "ok.py")
    (read,) = [one for one in collector.events if one["job"]["name"] == "read"]
    (start, end) = [one for one in collector.events if one["job"]["name"] == "nightly"]
    assert read["inputs"][0]["name"] == "/data/a.csv"
    assert read["run"]["facets"]["parent"]["run"]["runId"] == start["run"]["runId"] == end["run"]["runId"]
    assert end["job"]["namespace"] == read["job"]["namespace"] == "shop"


def test_a_hook_that_fails_is_on_the_run(folder: Path, collector: Collector) -> None:
    done = run(folder, collector.url, sys.executable, "-m", "whence_client.trace", "hooked.py")
    assert (done.returncode, done.stdout) == (0, "BAD\n")
    end = collector.events[-1]
    (error,) = end["run"]["facets"]["extractionError"]["errors"]
    assert error["errorMessage"] == "KeyError: 'bad'"


@pytest.mark.parametrize(
    ("job", "code", "state"),
    [
        ("ok", 0, "COMPLETE"),
        ("fails", 1, "FAIL"),
        ("exits", 3, "FAIL"),
        ("killed", 137, "FAIL"),
        ("terminated", 143, "FAIL"),
        ("interrupted", 130, "ABORT"),
        ("imports", 0, "COMPLETE"),
    ],
)
def test_a_command_is_a_run_whatever_becomes_of_it(
    folder: Path, collector: Collector, job: str, code: int, state: str
) -> None:
    done = run(folder, collector.url, sys.executable, "-c", RUN, sys.executable, "-u", f"{job}.py", "a")
    assert (done.returncode, done.stdout) == (code, plain(folder, job, "a").stdout)
    assert states(collector.events, job)[0] == "START"
    assert states(collector.events, job)[-1] == state
    assert len({one["run"]["runId"] for one in collector.events if one["job"]["name"] == job}) == 1


def test_the_stack_of_a_command_arrives_on_its_run(folder: Path, collector: Collector) -> None:
    run(folder, collector.url, sys.executable, "-c", RUN, sys.executable, "fails.py")
    facets = [one["run"]["facets"] for one in collector.events if one["job"]["name"] == "fails"]
    messages = [one["errorMessage"] for one in facets if "errorMessage" in one]
    assert messages[-1]["message"] == "ValueError: no rows"
    assert "in load" in messages[-1]["stackTrace"]


PROGRAMS = {
    "relative path": ["./lib/../where.py", "a"],
    "link": ["links/where.py"],
    "link beside others": ["links/imports.py"],
    "folder": ["packed", "a"],
    "archive": ["packed.pyz"],
    "module": ["-um", "beside"],
    "module of a package": ["-m", "jobs.load", "a"],
    "missing module": ["-m", "nowhere"],
    "code": ["-uc", "import sys; print(sys.argv, sys.path[0], __name__)", "a"],
    "code that fails": ["-c", "1 / 0"],
    "stdin": ["-", "a"],
    "stdin without arguments": [],
    "isolated": ["-I", "where.py"],
    "option in one word": ["-Werror", "-X", "dev", "where.py"],
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_sees_and_prints_the_same_as_without(folder: Path, collector: Collector, program: str) -> None:
    (folder / "links").mkdir()
    (folder / "links" / "where.py").symlink_to(folder / "where.py")
    (folder / "links" / "imports.py").symlink_to(folder / "imports.py")
    for package, module in (("packed", "__main__"), ("jobs", "load")):
        (folder / package).mkdir()
        (folder / package / f"{module}.py").write_text("import sys\nprint(sys.argv, sys.path[0], __file__)")
    zipapp.create_archive(folder / "packed", folder / "packed.pyz")
    code = (folder / "annotated.py").read_text() + "\nimport sys; print(sys.argv, sys.path[0], sorted(globals()))"
    command = [sys.executable, *PROGRAMS[program]]
    before = run(folder, collector.url, *command, stdin=code)
    after = run(folder, collector.url, sys.executable, "-c", RUN, *command, stdin=code)
    assert (after.returncode, after.stdout, after.stderr) == (before.returncode, before.stdout, before.stderr)
    assert collector.events[0]["eventType"] == "START"


def test_a_module_of_the_folder_does_not_take_the_place_of_pythons(folder: Path, collector: Collector) -> None:
    """Python looks into the working directory first while it runs the code of `-c`."""
    (folder / "uuid.py").write_text("print('mine')")
    (folder / "hello.py").write_text("print('hello')")
    elsewhere = RUN.replace("import sys; ", "import sys; sys.path.remove(''); ")
    done = run(folder, collector.url, sys.executable, "-c", elsewhere, sys.executable, "hello.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")
    assert states(collector.events, "hello") == ["START", "COMPLETE"]


@pytest.mark.parametrize("command", [["-c", "import frames; frames.read('/data/a.csv')"], ["-"]])
def test_what_code_without_a_file_reads_is_seen(folder: Path, collector: Collector, command: list[str]) -> None:
    run(folder, collector.url, sys.executable, "-c", RUN, sys.executable, *command, stdin=JOBS["ok"])
    (read,) = [one for one in collector.events if one["job"]["name"] == "read"]
    assert read["inputs"][0]["name"] == "/data/a.csv"


def test_two_modules_of_a_package_are_two_jobs(folder: Path, collector: Collector) -> None:
    (folder / "jobs").mkdir()
    (folder / "jobs" / "load.py").write_text("")
    run(folder, collector.url, sys.executable, "-c", RUN, sys.executable, "-m", "jobs.load")
    assert {one["job"]["name"] for one in collector.events} == {"jobs.load"}


WORKERS = """
import multiprocessing, sys
import frames
if __name__ == "__main__":
    if sys.argv[1] == "loky":
        from joblib import Parallel, delayed
        print(Parallel(2)(delayed(frames.read)(one) for one in ["/data/a.csv", "/data/b.csv"]))
    else:
        with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
            print(pool.map(frames.read, ["/data/a.csv", "/data/b.csv"]))
            pool.close()
            pool.join()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver", "loky"])
def test_workers_are_captured_however_they_start(folder: Path, collector: Collector, method: str) -> None:
    (folder / "workers.py").write_text(WORKERS)
    command = [sys.executable, "workers.py", method]
    before = run(folder, collector.url, *command)
    after = run(folder, collector.url, sys.executable, "-c", RUN, *command)
    assert (after.returncode, after.stdout, after.stderr) == (before.returncode, before.stdout, before.stderr)
    reads = [one for one in collector.events if one["job"]["name"] == "read"]
    assert sorted(one["inputs"][0]["name"] for one in reads) == ["/data/a.csv", "/data/b.csv"]
    (whole,) = {one["run"]["runId"] for one in collector.events if one["job"]["name"] == "workers"}
    assert {one["run"]["facets"]["parent"]["run"]["runId"] for one in reads} == {whole}


@pytest.mark.parametrize("command", [["sh", "-c", "echo out; exit 4"], ["true"]])
def test_a_command_that_is_no_python(folder: Path, collector: Collector, command: list[str]) -> None:
    done = run(folder, collector.url, sys.executable, "-c", RUN, *command)
    assert (done.returncode, done.stdout) == ((4, "out\n") if command[0] == "sh" else (0, ""))
    assert states(collector.events, command[0]) == ["START", "FAIL" if command[0] == "sh" else "COMPLETE"]


def test_a_python_without_the_client_runs_the_script_as_it_is(folder: Path) -> None:
    command = traced([sys.executable, "-S", "imports.py"])
    assert command != [sys.executable, "-S", "imports.py"]
    done = run(folder, "http://127.0.0.1:9", *command, library=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "beside imports.py\n", "")


@pytest.mark.parametrize(
    ("command", "is_traced"),
    [
        (["python", "a.py"], True),
        (["/usr/bin/python3.12", "-W", "error", "-X", "dev", "-u", "a.py", "-m"], True),
        (["python3", "-m", "jobs.load"], True),
        (["python", "-uIm", "jobs.load"], True),
        (["python", "-mjobs.load"], True),
        (["python", "-c", "pass"], True),
        (["python", "-"], True),
        (["python"], True),
        (["python", "-V"], False),
        (["python", "-c"], False),
        (["python", "-i", "a.py"], False),
        (["python", "--help"], False),
        (["dbt", "build"], False),
        (["ipython", "a.py"], False),
    ],
)
def test_which_commands_are_traced(command: list[str], is_traced: bool) -> None:
    assert (traced(command) != command) is is_traced


def test_children_know_their_parent(folder: Path, collector: Collector) -> None:
    script = "import os; print(os.environ['OPENLINEAGE_PARENT_ID'].split('/')[:2])"
    (folder / "child.py").write_text(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {script!r}])\n")
    done = run(folder, collector.url, sys.executable, "-m", "whence_client.trace", "--job", "a/b", "child.py")
    assert done.stdout == "['shop', 'a%2Fb']\n"


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows has no SIGSTOP")
def test_a_function_that_is_frozen_after_its_return_has_sent_everything(folder: Path, collector: Collector) -> None:
    """As a serverless platform does: the process gets no time after the answer."""
    (folder / "handler.py").write_text(
        "import os, signal, whence_client as whence\n"
        "class Context:\n"
        "    def get_remaining_time_in_millis(self): return 60000\n"
        "@whence.job('handler', inputs=['s3://b/in'], outputs=['s3://b/out'])\n"
        "def handler(event, context): return 'ok'\n"
        "print(handler({}, Context()), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSTOP)\n"
    )
    names = {"PYTHONPATH": str(SOURCE), "WHENCE_URL": collector.url, "WHENCE_OUTBOX": str(folder / "outbox")}
    process = subprocess.Popen(
        [sys.executable, str(folder / "handler.py")], env={**os.environ, **names}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ok\n"
    assert states(collector.events, "handler") == ["START", "COMPLETE"]
    process.kill()
    process.communicate()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "hanging"])
def test_a_function_does_not_wait_for_a_collector_that_is_away_until_its_deadline(
    url: str, folder: Path, collector: Collector
) -> None:
    collector.status = 0
    (folder / "handler.py").write_text(
        "import time, whence_client as whence\n"
        "class Context:\n"
        "    def get_remaining_time_in_millis(self): return 60000\n"
        "@whence.job('handler', inputs=['s3://b/in'])\n"
        "def handler(event, context): pass\n"
        "begun = time.monotonic()\n"
        "handler({}, Context())\n"
        "print(time.monotonic() - begun)\n"
    )
    done = run(folder, collector.url if url == "hanging" else url, sys.executable, str(folder / "handler.py"))
    assert float(done.stdout) < 10


def test_events_on_stdout_for_a_log_shipper(folder: Path) -> None:
    names = {"PYTHONPATH": str(SOURCE), "OPENLINEAGE__TRANSPORT__TYPE": "console"}
    command = [sys.executable, "-c", "import whence_client as w\nwith w.run('x'): pass"]
    done = subprocess.run(command, env={**os.environ, **names}, capture_output=True, text=True, check=True)
    assert [json.loads(line)["eventType"] for line in done.stdout.splitlines()] == ["START", "COMPLETE"]
