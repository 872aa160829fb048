"""Event storms: who sends too much waits or is refused, cheaply and visibly; everyone else is served as before."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.collector.test_collect import event
from api.process import Api, Serving
from whence.api.http.rate_limits import Limits, RateSettings, Source, source_of, tally
from whence.errors import RateLimitError

STORM = "https://example.org/storm"
THIRTY = {"producer_events": 0.001, "burst_seconds": 30_000, "patience_seconds": 0}
"""Thirty events, and a long time nothing: what is left when the burst is used up does not depend on the clock."""


def sent(api: Api, producer: str, times: int) -> list[int]:
    return [api.post(event(producer=producer)).status for _ in range(times)]


def test_a_storm_is_refused_with_503_and_others_are_served(serving: Serving) -> None:
    api = serving(rates=THIRTY)
    # The last is taken into debt: that is how what is larger than a burst passes at all.
    assert sent(api, STORM, 40) == [201] * 31 + [503] * 9
    refused = api.post(event(producer=STORM))
    assert (refused.status, refused.headers["retry-after"]) == (503, "60")
    assert "example.org/storm" in refused.json["reason"]
    assert sent(api, "https://example.org/calm", 20) == [201] * 20
    assert len(api.records()) == 51, "nothing that was refused is kept"
    assert api.ask("GET", "/api/v2/status").json["refused"] == {"producer": 10}


def test_a_job_namespace_has_a_share_of_its_own(serving: Serving) -> None:
    api = serving(rates=THIRTY | {"burst_seconds": 2_000})
    for namespace in ("team-a", "team-b"):
        job = {"namespace": namespace, "name": "job"}
        assert [api.post(event(job=job)).status for _ in range(4)] == [201] * 3 + [503]


def test_bytes_count_too_and_what_is_large_passes_once(serving: Serving) -> None:
    api = serving(rates={"producer_bytes": 1_000.0, "burst_seconds": 1.0, "patience_seconds": 0.0})
    large = event(producer=STORM, run={"runId": event()["run"]["runId"], "facets": {"x": {"y": "z" * 500_000}}})
    assert api.post(gzip.compress(json.dumps(large).encode()), Content_Encoding="gzip").status == 201
    refused = api.post(event(producer=STORM))
    assert (refused.status, refused.headers["retry-after"]) == (503, "60")


def test_a_batch_is_taken_or_refused_whole(serving: Serving) -> None:
    api = serving(rates=THIRTY)
    batch = [event(producer=STORM) for _ in range(40)]
    assert api.post(batch, "/lineage/batch").status == 200
    calm = event(producer="https://example.org/calm")
    assert api.post([calm, event(producer=STORM)], "/lineage/batch").status == 503
    assert len(api.records()) == 40
    assert api.post([calm], "/lineage/batch").status == 200


def test_a_short_excess_is_held_back_not_refused(serving: Serving) -> None:
    api = serving(rates={"producer_events": 50.0, "burst_seconds": 0.1, "patience_seconds": 5.0})
    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda _: api.post(event()).status, range(60)))
    assert statuses == [201] * 60


def test_without_limits_nobody_is_refused(serving: Serving) -> None:
    api = serving(rates={"producer_events": 0, "producer_bytes": 0, "burst_seconds": 0, "patience_seconds": 0})
    assert sent(api, STORM, 50) == [201] * 50


def limits(clock: list[float], **changes: Any) -> Limits:
    return Limits(RateSettings(**changes), clock=lambda: clock[0])


def pass_both(doors: Limits, peer: str, body: bytes) -> bool:
    try:
        doors.at_door(peer, len(body))
        doors.inside(peer, tally([body]), len(body))
    except RateLimitError:
        return False
    return True


def test_an_address_is_refused_before_its_body_is_read() -> None:
    clock = [0.0]
    doors = limits(clock, peer_events=1, burst_seconds=3, patience_seconds=0)
    assert [doors.at_door("192.0.2.1", 10) for _ in range(3)] == [0, 0, 0]
    doors.at_door("192.0.2.1", 10)
    with pytest.raises(RateLimitError) as refused:
        doors.at_door("192.0.2.1", 10)
    assert refused.value.door == "peer"
    assert doors.at_door("192.0.2.2", 10) == 0
    clock[0] = 10.0
    assert doors.at_door("192.0.2.1", 10) == 0


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "::ffff:127.0.0.1", ""])
def test_addresses_of_this_machine_share_nothing(peer: str) -> None:
    doors = limits([0.0], peer_events=1, burst_seconds=1, patience_seconds=0)
    assert [doors.at_door(peer, 1 << 30) for _ in range(100)] == [0] * 100


def test_an_ipv6_network_is_one_address() -> None:
    doors = limits([0.0], peer_events=1, burst_seconds=1, patience_seconds=0)
    assert [doors.at_door(f"2001:db8::{number}", 1) for number in (1, 2)] == [0, 0]
    with pytest.raises(RateLimitError):
        doors.at_door("2001:db8::3", 1)
    assert doors.at_door("2001:db8:0:1::1", 1) == 0


def test_ever_new_names_get_no_further_than_their_address() -> None:
    doors = limits([0.0], peer_events=10, burst_seconds=10, patience_seconds=0, remembered=50)
    passed = [pass_both(doors, "192.0.2.1", json.dumps({"producer": f"p{number}"}).encode()) for number in range(5_000)]
    assert sum(passed) <= 101
    assert pass_both(doors, "192.0.2.2", b'{"producer": "calm"}')


@given(
    rate=st.floats(0.5, 100),
    burst=st.floats(0.5, 20),
    gaps=st.lists(st.floats(0, 3), min_size=1, max_size=100),
)
def test_no_more_passes_than_the_rate_and_one_burst(rate: float, burst: float, gaps: list[float]) -> None:
    clock = [0.0]
    doors = limits(clock, producer_events=rate, producer_bytes=0, burst_seconds=burst, patience_seconds=0)
    passed = 0
    for gap in gaps:
        clock[0] += gap
        passed += pass_both(doors, "", b"{}")
    assert passed <= rate * (clock[0] + burst) + 1 + 1e-6
    assert passed >= min(len(gaps), int(rate * burst)), "a burst always passes"


@pytest.mark.parametrize(
    ("body", "source"),
    [
        (event(producer="p"), Source("p", "test")),
        ({"producer": "p", "dataset": {"namespace": "n", "name": "d"}}, Source("p", "")),
        ({"producer": 7, "job": {"namespace": "n"}}, Source()),
        ({"producer": "p", "job": "none"}, Source()),
        ([], Source()),
    ],
)
def test_what_an_event_is_from_is_read_without_the_rest(body: Any, source: Source) -> None:
    assert source_of(json.dumps(body).encode()) == source


def test_a_broken_body_is_from_nobody() -> None:
    assert source_of(b'{"producer": "p", ') == Source()
    assert source_of(b"[" * 100_000) == Source()


def test_many_large_events_at_once_take_bounded_memory(serving: Serving) -> None:
    """Eight bodies of 25 MB: some may be refused for now, none that was acknowledged is missing."""
    api = serving(max_reading_bytes=120 << 20)
    api.post(event())
    before = peak(api)
    plan = {"nodes": [{"id": "x" * 40}] * 500_000}
    bodies = [json.dumps(event(job={"namespace": "n", "name": f"{n}", "facets": {"plan": plan}})) for n in range(8)]
    assert len(bodies[0]) > 24 << 20
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda body: api.post(body.encode()), bodies))
    assert {answer.status for answer in answers} <= {201, 503}
    accepted = [answer.json["key"] for answer in answers if answer.status == 201]
    assert accepted
    assert {record.key for record in api.records()} >= set(accepted)
    assert peak(api) - before < 500 << 20


def peak(api: Api) -> int:
    """The most memory that the process had, in bytes."""
    with open(f"/proc/{api.pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["VmHWM"].split()[0]) * 1024
