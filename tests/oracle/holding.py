"""Which sets hold, and when: the fold of each owner's statements into spans (state.md, "Statements")."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from oracle.nodes import Node

LineageSet = tuple[Node, Node | None, str, str, frozenset[tuple[Node, Node, str, str, str, str]]]
"""(owner, output or None, level, origin, edges)."""

Held = frozenset[LineageSet]
Span = tuple[int, int | None, bool, Held]
"""(from, to or None, confirmed, sets)."""


@dataclass
class Statement:
    """One opinion of an owner's lineage."""

    owner: Node
    aspect: str
    at: int
    number: int
    confirmed: bool
    sets: Held
    drops: Node | None = None
    """The dataset into which nothing that was written holds any more."""


def known_best(reports: list[set[LineageSet]]) -> Held:
    """Of the sets of a run's events: without what one guesses of outputs of which another reports more."""
    better = set().union(*map(_targets, reports))
    best: set[LineageSet] = set()
    for sets in reports:
        elsewhere = better - _targets(sets)
        for one in sets:
            guess = one[3] in ("parsed", "unreported") and one[1] in elsewhere
            if one[3] != "dropped" and not guess and not (one[3] == "inferred" and one[1] in better):
                best.add(one)
    explained = set().union(*map(_explained_whole, reports))
    return frozenset(one for one in best if not (one[2:4] == ("dataset", "incomplete") and one[1] in explained))


def _explained_whole(sets: set[LineageSet]) -> set[Node | None]:
    """The outputs that one event explains without saying that there is more."""
    known = {one[1] for one in sets if one[3] in ("explicit", "columnLineage", "parsed", "inferred")}
    return known - {one[1] for one in sets if one[2:4] == ("dataset", "incomplete")}


def _targets(sets: Iterable[LineageSet]) -> set[Node | None]:
    """The outputs of which a producer reports lineage."""
    return {output for _, output, _, origin, _ in sets if origin in ("explicit", "columnLineage")}


def spans(statements: list[Statement]) -> dict[tuple[Node, str], list[Span]]:
    """The history of each (owner, aspect), in order of time."""
    by_owner: dict[tuple[Node, str], list[Statement]] = defaultdict(list)
    for one in statements:
        by_owner[one.owner, one.aspect].append(one)
    return {owner: _history(some) for owner, some in by_owner.items()}


def _history(statements: list[Statement]) -> list[Span]:
    held: Held = frozenset()
    confirmed = False
    at_instant: dict[int, tuple[Held, bool]] = {}
    for one in sorted(statements, key=lambda one: (one.at, one.number)):
        if one.drops:
            held = frozenset(its for its in held if its[1] != one.drops)
        elif one.confirmed or not confirmed:
            renames = frozenset(its for its in held if its[3] == "renamed" and one.sets)
            held = (_observed(held, one.sets) if one.aspect == "observed" else one.sets) | renames
            confirmed = one.confirmed
        at_instant[one.at] = held, confirmed
    changes: list[tuple[int, Held, bool]] = []
    for at, (sets, sure) in at_instant.items():
        if not changes or changes[-1][1:] != (sets, sure):
            changes.append((at, sets, sure))
    ends = [at for at, *_ in changes[1:]] + [None]
    return [(at, end, sure, sets) for (at, sets, sure), end in zip(changes, ends, strict=True) if sets]


def _observed(before: Held, sets: Held) -> Held:
    """What is reported of columns stays until it is reported anew; what is parsed only until anything is. Gaps that a
    run admits are there, whatever else holds; those of another run stay with its columns.
    """
    replaced = _targets(one for one in before if one[2] == "field") - _targets(one for one in sets if one[2] == "field")
    own = frozenset(one for one in sets if one[3] == "incomplete" or not (one[2] == "field" and one[1] in replaced))
    outputs = {output for _, output, *_ in own if output}
    stay = (outputs - _with_columns(own)) & _with_columns(before)
    return own | frozenset(one for one in before if one[2] == "field" and one[1] in stay)


def _with_columns(sets: Held) -> set[Node | None]:
    """The outputs with sets of columns; an admitted gap is none."""
    return {output for _, output, level, origin, _ in sets if level == "field" and origin != "incomplete"}
