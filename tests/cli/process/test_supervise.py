"""The supervisor: it starts, restarts and ends whole process groups, and the socket outlives all of them."""

import contextlib
import http.client
import json
import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from fixtures.waits import wait_until
from whence.cli.process.process_group import MARK
from whence.cli.process.supervisor import Plan

IDLE = "import signal; print('ready', flush=True); signal.pause()"
FAILING = "import sys; print('no luck', file=sys.stderr); sys.exit(3)"
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    signal.pause()
"""
PARENT = f"""
import subprocess, sys, signal
child = subprocess.Popen([sys.executable, "-c", {STUBBORN!r}], stdout=subprocess.PIPE, close_fds=False)
child.stdout.readline()
print("grandchild", child.pid, file=sys.stderr, flush=True)
print("ready", flush=True)
signal.pause()
"""


class Supervised:
    """A supervisor process over idle children, and how to look at it."""

    def __init__(
        self, data: Path, port: int = 0, patience: float = 120, *, reports_steps: bool = False, **children: str
    ) -> None:
        self.data = data
        argv = {name: [sys.executable, "-c", code] for name, code in children.items()}
        plan = Plan(
            data=str(data),
            host="127.0.0.1",
            port=port,
            children=argv,
            patience=patience,
            reports_steps=reports_steps,
            need_space=("pipeline",),
        )
        command = [sys.executable, "-m", "whence.cli.process.supervisor", json.dumps(asdict(plan))]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdout, self.stderr = self.process.stdout, self.process.stderr

    def state(self) -> dict[str, Any]:
        return dict(json.loads((self.data / "run" / "whence.json").read_text()))

    def when(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The state as soon as it is so: the supervisor says every change on stderr or in its file."""
        state: dict[str, Any] = {}

        def has_come() -> bool:
            nonlocal state
            with contextlib.suppress(FileNotFoundError):  # it has not started yet
                state = self.state()
                return is_so(state)
            return False

        wait_until(has_come, lambda: self.process.poll() is None)
        return state

    def times_of(self, about: str) -> Iterator[str]:
        """Its lines on stderr that begin so."""
        return (line for line in iter(self.stderr.readline, "") if line.startswith(about))

    def marked(self) -> set[int]:
        """Processes that this supervisor's children and their descendants are."""
        return marked(str(self.data))

    def end(self, how: signal.Signals = signal.SIGKILL) -> int:
        self.process.send_signal(how)
        code = self.process.wait(30)
        self.stdout.close()
        self.stderr.close()
        return code


def marked(data: str) -> set[int]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"{MARK}={data}".encode() in environment.split(b"\0"):
                found.add(int(entry.name))
    return found


def wait_until_gone(pids: set[int]) -> None:
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        assert select.select([handle], [], [], 20)[0], f"{pid} is still there"
        os.close(handle)


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Callable[..., Supervised]]:
    made: list[Supervised] = []

    def make(**children: Any) -> Supervised:
        data, port = children.pop("data", tmp_path), children.pop("port", 0)
        made.append(Supervised(data, port, children.pop("patience", 120), **children))
        return made[-1]

    yield make
    for one in made:
        if one.process.poll() is None:
            leftovers = one.marked()
            one.end()
            for pid in leftovers:
                if pid in marked(str(one.data)):
                    os.kill(pid, signal.SIGKILL)
        one.stdout.close()
        one.stderr.close()


def test_it_says_ready_once_all_are_and_ends_cleanly(supervised: Callable[..., Supervised]) -> None:
    one = supervised(api=IDLE, pipeline=IDLE)
    word, url, *_ = one.stdout.readline().split()
    assert word == "ready"
    state = one.when(lambda state: state["ready"])
    assert state["url"] == url
    assert state["pid"] == one.process.pid
    assert {state["api"]["pid"], state["pipeline"]["pid"]} == one.marked()
    assert one.end(signal.SIGTERM) == 0
    assert one.marked() == set()
    assert not (one.data / "run" / "whence.json").exists()


def test_a_person_who_waits_reads_each_step_of_the_start(supervised: Callable[..., Supervised]) -> None:
    one = supervised(pipeline=f"print('step starts Spark', flush=True); {IDLE}", reports_steps=True)
    assert one.stdout.readline().startswith("ready")
    lines = ("starting pipeline; the data is in " + str(one.data), "the pipeline starts Spark", "the pipeline is ready")
    assert [one.stderr.readline().rstrip() for _ in lines] == list(lines)
    os.kill(one.state()["pipeline"]["pid"], signal.SIGKILL)
    assert "the pipeline was ended by SIGKILL" in one.stderr.readline()
    one.when(lambda state: bool(state["ready"]))
    assert one.end(signal.SIGTERM) == 0


def test_ctrl_c_ends_it_cleanly(supervised: Callable[..., Supervised]) -> None:
    one = supervised(api=IDLE)
    one.stdout.readline()
    one.process.send_signal(signal.SIGINT)
    assert one.stderr.readline() == f"stopping; the data stays in {one.data} (Ctrl-C again to stop at once)\n"
    assert one.process.wait(30) == 0
    assert one.stderr.read() == ""
    assert one.marked() == set()


def test_a_killed_child_is_started_again_and_its_orphans_are_killed(supervised: Callable[..., Supervised]) -> None:
    one = supervised(api=IDLE, pipeline=PARENT)
    one.stdout.readline()
    before = one.marked()
    state = one.state()
    assert len(before) == 3
    os.kill(state["pipeline"]["pid"], signal.SIGKILL)
    assert "the pipeline was ended by SIGKILL" in one.stderr.readline()
    again = one.when(lambda now: now["ready"] and now["pipeline"]["pid"] != state["pipeline"]["pid"])
    assert again["api"] == state["api"], "the other child is left alone"
    wait_until_gone(before - {state["api"]["pid"]})
    assert len(one.marked()) == 3


def test_one_that_never_starts_is_tried_again_ever_more_slowly_and_the_state_says_so(
    supervised: Callable[..., Supervised],
) -> None:
    one = supervised(api=IDLE, pipeline=FAILING)
    lines = [one.stderr.readline() for _ in range(3)]
    assert all("ended with exit code 3" in line for line in lines)
    assert ["0.4 s" in lines[0], "0.8 s" in lines[1], "1.6 s" in lines[2]] == [True] * 3
    state = one.state()
    assert state["ready"] is False
    assert "exit code 3" in state["pipeline"]["detail"]
    assert "no luck" in (one.data / "run" / "pipeline.log").read_text()
    assert one.end(signal.SIGTERM) == 0


def test_a_second_signal_does_not_wait_for_the_stubborn(supervised: Callable[..., Supervised]) -> None:
    one = supervised(api=STUBBORN)
    one.stdout.readline()
    one.process.send_signal(signal.SIGTERM)
    assert one.end(signal.SIGINT) == 0
    assert one.marked() == set()


def test_children_die_with_a_killed_supervisor_and_the_next_one_ends_the_rest(
    supervised: Callable[..., Supervised],
) -> None:
    one = supervised(api=IDLE, pipeline=PARENT)
    one.stdout.readline()
    state, before = one.state(), one.marked()
    one.end(signal.SIGKILL)
    direct = {state["api"]["pid"], state["pipeline"]["pid"]}
    wait_until_gone(direct)
    orphans = before - direct
    assert len(orphans) == 1
    assert orphans <= one.marked()

    other = supervised(api=IDLE, port=int(state["url"].rpartition(":")[2]))
    assert other.stdout.readline().startswith(f"ready {state['url']}"), "the orphan has the port no more"
    wait_until_gone(orphans)
    assert other.end(signal.SIGTERM) == 0


def test_a_second_one_on_the_same_data_or_port_is_refused(
    supervised: Callable[..., Supervised], tmp_path: Path
) -> None:
    one = supervised(api=IDLE)
    url = one.stdout.readline().split()[1]
    twin = supervised(api=IDLE)
    assert twin.process.wait(20) == 1
    assert "another whence runs on" in twin.stderr.read()
    neighbour = supervised(api=IDLE, data=tmp_path / "other", port=int(url.rpartition(":")[2]))
    assert neighbour.process.wait(20) == 1
    assert "choose another --port" in neighbour.stderr.read()
    assert one.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_ends_while_a_child_is_still_starting(
    supervised: Callable[..., Supervised], number: signal.Signals, tmp_path: Path
) -> None:
    one = supervised(api=IDLE, pipeline=f"open({str(tmp_path / 'began')!r}, 'x').close(); {STARTING}")
    one.when(lambda state: state["pipeline"]["detail"].endswith(": opens Spark"))
    assert one.end(number) == 0
    assert (tmp_path / "began").exists()
    assert one.marked() == set()


STARTING = "import signal; print('step opens Spark', flush=True); signal.pause()"
UNHURRIED = """
import os, signal, sys
print("long-step upgrades tables", flush=True)
sys.stdin = open(FIFO)
sys.stdin.read()
print("ready", flush=True)
signal.pause()
"""


def test_one_that_hangs_in_its_start_is_killed_and_has_twice_as_long_the_next_time(
    supervised: Callable[..., Supervised],
) -> None:
    one = supervised(api=IDLE, pipeline=STARTING, patience=0.5)
    times = one.times_of("the pipeline was killed")
    late = [next(times) for _ in range(2)]
    assert ["more than 0.5 s" in late[0], "more than 1 s" in late[1]] == [True, True]
    while not re.search(r"\(is starting since 20\S+: opens Spark\)", late[-1]):
        late.append(next(times))
    assert one.when(lambda state: state["api"]["ready"])["ready"] is False
    assert one.end(signal.SIGTERM) == 0


def test_a_step_without_a_limit_may_take_longer(supervised: Callable[..., Supervised], tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    one = supervised(api=STARTING, pipeline=UNHURRIED.replace("FIFO", repr(str(fifo))), patience=0.4)
    before = one.when(lambda state: state["pipeline"]["detail"].endswith(": upgrades tables"))["pipeline"]
    times = one.times_of("the api was killed")
    for _ in range(2):
        next(times)
    assert one.state()["pipeline"]["pid"] == before["pid"]
    fifo.write_text("")
    assert one.when(lambda state: state["pipeline"]["ready"])["pipeline"]["pid"] == before["pid"]


def limit_files(pid: int, size: int) -> None:
    """Let a process, and those that it starts, write no file beyond a size: as on a full disk, writes fail."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_while_nothing_can_be_written_it_stays_and_then_all_comes_back(supervised: Callable[..., Supervised]) -> None:
    one = supervised(api=IDLE, pipeline=IDLE)
    one.stdout.readline()
    before = one.when(lambda state: state["ready"])
    limit_files(one.process.pid, 0)
    for name in ("api", "pipeline"):
        os.kill(before[name]["pid"], signal.SIGKILL)
    lines = [one.stderr.readline() for _ in range(3)]
    assert sum("was ended by SIGKILL" in line for line in lines) == 2
    assert sum("the pipeline cannot be started: File too large" in line for line in lines) == 1, "it is said once"
    assert one.state() == before, "the state file is as it could be written last"
    one.when(lambda state: len(one.marked()) == 1)  # the API comes back alone, for it can answer questions
    limit_files(one.process.pid, resource.RLIM_INFINITY)
    after = one.when(lambda state: state["ready"] and state["pipeline"]["pid"] != before["pipeline"]["pid"])
    assert {after["api"]["pid"], after["pipeline"]["pid"]} == one.marked()
    assert one.end(signal.SIGTERM) == 0


ANSWERING = """
import http.server, socket, sys

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

server = http.server.HTTPServer(("127.0.0.1", 0), Answer, bind_and_activate=False)
server.socket.close()
server.socket = socket.socket(fileno=int(sys.argv[1]))
print("ready", flush=True)
server.serve_forever()
"""


def test_clients_wait_in_the_socket_while_the_api_is_away(tmp_path: Path) -> None:
    plan = Plan(
        data=str(tmp_path),
        host="127.0.0.1",
        port=0,
        children={"api": [sys.executable, "-c", ANSWERING, "{fd}"]},
    )
    command = [sys.executable, "-m", "whence.cli.process.supervisor", json.dumps(asdict(plan))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().split()[1].rpartition(":")[2])
        for _ in range(3):
            pid = json.loads((tmp_path / "run" / "whence.json").read_text())["api"]["pid"]
            os.kill(pid, signal.SIGKILL)
            wait_until_gone({pid})
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
            connection.close()
        process.terminate()
        assert process.wait(20) == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_it_stays_small(supervised: Callable[..., Supervised]) -> None:
    one = supervised(api=IDLE)
    one.stdout.readline()
    lines = Path(f"/proc/{one.process.pid}/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    assert peak < 30_000, "kB; nothing heavy may be imported here"
