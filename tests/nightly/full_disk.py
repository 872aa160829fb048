"""`whence up` on disks that become full: nothing acknowledged is lost, nothing is done unaudited, and all comes back by
itself.

`make nightly-faults` runs it as root of a user namespace of its own (`unshare -rm`), where it may mount small disks.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator

import pytest

from chaos.processes import marked
from nightly.disks import Disks, Served, mounted, serving, until

logger = logging.getLogger(__name__)

Fault = Callable[[Served, Disks, str], None]

ONE_DISK, APART = "one disk", "a disk for each place"


@pytest.fixture(scope="module")
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Disks]]:
    """A Whence on one disk, or on one for each place."""
    data = tmp_path_factory.mktemp("disk") / "data"
    with mounted(data, apart=request.param == APART) as disks:
        began = time.monotonic()
        with serving(data) as served:
            logger.info("%s: well %.1f s after the start", request.param, time.monotonic() - began)
            yield served, disks
        assert marked(data) == {}


def fill(_: Served, disks: Disks, place: str) -> None:
    disks.fill(place)


def fill_then_kill(served: Served, disks: Disks, place: str) -> None:
    disks.fill(place)
    served.kill("pipeline")
    served.kill("api")


def fill_while_spark_starts(served: Served, disks: Disks, place: str) -> None:
    before = served.pipeline["pid"]
    served.kill("pipeline")
    until(lambda: served.pipeline["pid"] != before and "starts Spark" in served.pipeline["detail"])
    disks.fill(place)


@pytest.mark.parametrize(
    ("running", "place", "fault"),
    [
        (ONE_DISK, "run", fill),
        (ONE_DISK, "run", fill_then_kill),
        (ONE_DISK, "run", fill_while_spark_starts),
        (APART, "run", fill),
        (APART, "run", fill_then_kill),
        (APART, "run", fill_while_spark_starts),
        (APART, "store", fill),
        (APART, "log", fill),
        (APART, "security", fill),
    ],
    indirect=["running"],
)
def test_it_comes_back_when_there_is_space_again(
    running: tuple[Served, Disks], place: str, fault: Fault, pytestconfig: pytest.Config
) -> None:
    served, disks = running
    is_apart = len(set(disks.of.values())) > 1
    full = {place} if is_apart else set(disks.of)
    supervisor = served.supervisor
    for _ in range(100):
        assert served.post() == 201
    until(served.is_well)
    fault(served, disks, place)
    until(lambda: served.post(size=50_000) != 0 and served.ask("GET", "/health/ready")[0] == 503)
    check_meanwhile(served, full)
    disks.free(place)
    took = until(served.is_well)
    load = os.getloadavg()[0]
    logger.info("%s, %s: well %.1f s after there was space again (load %.1f)", place, fault.__name__, took, load)
    check_after(served, supervisor)
    assert took <= pytestconfig.getoption("--back")


def check_meanwhile(served: Served, full: set[str]) -> None:
    """What has a place to write to goes on; questions are answered in any case."""
    until(lambda: served.post(size=50_000) == (503 if "log" in full else 201))
    until(lambda: served.act() in ((503,) if full & {"log", "security"} else (200, 202)))
    for _ in range(20):
        served.post()
    assert served.ask("GET", "/api/v2/status")[0] == 200


def check_after(served: Served, supervisor: int) -> None:
    assert served.supervisor == supervisor
    assert served.act() in (200, 202)
    assert served.ask("GET", "/api/v2/status")[1]["missing"] == 0
    assert served.ask("GET", "/api/v2/audit/verification")[1]["data"]["intact"]
    begun = served.ask("GET", "/api/v2/audit?action=begun&limit=1000")[1]["data"]
    assert len(begun) >= served.acts, "an act that was done is not in the audit log"
