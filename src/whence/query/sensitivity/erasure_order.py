"""In which order data is to be erased: before what is made of it, or the next run brings it back."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

N = TypeVar("N")


def erasure_steps(nodes: Iterable[N], flows: Iterable[tuple[N, N]]) -> Mapping[N, int]:
    """The step of each node, from 1: after those of all nodes from which data flows to it. Nodes that flow into each
    other have one step. Flows from or to other nodes do not count.
    """
    before: dict[N, set[N]] = {node: set() for node in sorted(nodes, key=str)}
    for source, target in flows:
        if source != target and source in before and target in before:
            before[target].add(source)
    steps: dict[N, int] = {}
    while len(steps) < len(before):
        left = [node for node in before if node not in steps]
        ready = [node for node in left if before[node] <= steps.keys()] or _first_cycle(before, left)
        found = {node: 1 + max((steps[one] for one in before[node] if one in steps), default=0) for node in ready}
        # Of a cycle, all wait for what flows into any of it.
        is_cycle = any(not before[node] <= steps.keys() for node in ready)
        steps |= dict.fromkeys(found, max(found.values())) if is_cycle else found
    return steps


def _first_cycle(before: Mapping[N, set[N]], left: Iterable[N]) -> list[N]:
    """The nodes of a cycle into which nothing flows from other nodes that are left."""
    waiting = set(left)
    upstream = [list(_reached(before, node, waiting)) for node in sorted(waiting, key=str)]
    return min(upstream, key=len)


def _reached(before: Mapping[N, set[N]], start: N, within: set[N]) -> set[N]:
    found, frontier = {start}, [start]
    while frontier:
        new = (before[frontier.pop()] & within) - found
        found |= new
        frontier.extend(new)
    return found
