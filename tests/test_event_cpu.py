"""What an event costs: CPU relative to a plain decode of its body in the same run, so that any machine passes.

A limit is about half as much again as measured. Lower it with the cost; raise it only with a reason.
"""

from bench.measures.event_cpu import ACCEPT, DECODE, MERGE, SETTLE, Costs, least_ratios, measure

LIMITS = {ACCEPT: 4.8, MERGE: 12.0, SETTLE: 3.5}


def find_excess(costs: Costs) -> dict[str, float]:
    """The stations that cost more than their limit, and what they cost."""
    found = least_ratios(costs)
    return {station: found[station] for station, limit in LIMITS.items() if found[station] > limit}


def test_no_station_costs_more_than_its_limit() -> None:
    assert find_excess(measure(chunks=3)) == {}


def test_a_station_that_became_slower_is_found_on_any_machine() -> None:
    for pace in (1.0, 7.0):
        decode = [2.0 * pace, 9.0 * pace]
        costs = {DECODE: decode} | {name: [0.99 * limit * one for one in decode] for name, limit in LIMITS.items()}
        assert find_excess(costs) == {}
        slower = costs | {ACCEPT: [1.2 * one for one in costs[ACCEPT]]}
        assert list(find_excess(slower)) == [ACCEPT]
