"""The processes of a running Whence: which they are, and killing one for sure."""

import asyncio
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

from whence.cli.process.process_group import MARK

SUPERVISOR = "whence.cli.process.supervisor"
JVM = "org.apache.spark.deploy.SparkSubmit"
DRIVER = r"^\S*python\S* .*(whence\.derive|derive\.py)"


def state_of(data: Path) -> dict[str, Any]:
    """What the supervisor says of its children."""
    return dict(json.loads((data / "run" / "whence.json").read_text()))


def supervisor(data: Path) -> int | None:
    """`whence up`, if it runs."""
    pid = int(state_of(data)["pid"])
    return pid if SUPERVISOR in (arguments := command(pid)) and f'"{data}"' in arguments else None


def api(data: Path) -> int | None:
    """The API's process, if there is one."""
    return _child(data, "api")


def driver(data: Path) -> int | None:
    """The Spark driver: the pipeline's Python process."""
    return next((pid for pid in _pipeline(data) if re.search(DRIVER, command(pid))), None)


def jvm(data: Path) -> int | None:
    """The driver's JVM: its child, or under `spark-submit` its parent."""
    return next((pid for pid in _pipeline(data) if JVM in command(pid)), None)


def python_workers(executor: int) -> list[int]:
    """The Python workers of an executor's process, forked from its daemon: some may be at work, some may wait."""
    daemons = [pid for pid in children(executor) if "pyspark" in command(pid)]
    return [pid for daemon in daemons for pid in children(daemon)]


def _pipeline(data: Path) -> list[int]:
    pid = _child(data, "pipeline")
    return [pid, *children(pid)] if pid else []


def _child(data: Path, name: str) -> int | None:
    """A child of the supervisor. What a killed supervisor said last may be the number of a stranger by now."""
    pid: int | None = state_of(data)[name]["pid"]
    return pid if pid and _mark(data) in _environment(Path(f"/proc/{pid}")) else None


async def kill(pid: int) -> bool:
    """`kill -9`, and wait until it is dead. False if it was so before."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    loop = asyncio.get_running_loop()
    dead = loop.create_future()
    loop.add_reader(handle, lambda: None if dead.done() else dead.set_result(None))
    try:
        if _is_dead(pid):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        await dead
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    return True


def marked(data: Path) -> dict[int, str]:
    """All living processes that the supervisor of this data directory started, and their descendants: what they run."""
    mark = _mark(data)
    found = [one for one in Path("/proc").iterdir() if one.name.isdecimal() and mark in _environment(one)]
    return {int(one.name): command(int(one.name)) for one in found}


def _mark(data: Path) -> bytes:
    return f"{MARK}={data}".encode()


def _environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def command(pid: int) -> str:
    """What a process runs; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    """The living children of a process."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
