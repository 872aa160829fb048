"""Random findings over random lineage, and which incidents they are, computed from the definition by other means."""

import random
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import product

from whence.govern.incidents.findings import Finding, FindingKind, finding_id
from whence.govern.incidents.incident import Act, IncidentRules, UpstreamRelation
from whence.model.names import DatasetName
from whence.model.records.incidents import IncidentActRecord

HOSTILE = (
    "\u202eorders",
    "a'b\"; drop",
    "line\nbreak",
    "[bold]x[/]",
    "daily.revenue",
    "x" * 300,
    "a/b",
    "ünï",
    "\x1b[31m",
)
RULES = IncidentRules(slack=3, grace=4)
"""In the same unit as the times of these findings: small numbers, so that many coincide."""


def dataset(number: int) -> DatasetName:
    """One of several datasets, in prod, staging and dev."""
    stage = ("prod", "staging", "dev")[number % 3]
    return DatasetName(f"postgres://{stage}:5432", f"{number}.{HOSTILE[number % len(HOSTILE)]}")


def finding(
    number: int,
    since: int,
    until: int | None = None,
    *,
    page: int | None = None,
    ticket: int | None = 0,
    source: str = "",
    quiet: tuple[tuple[int, int | None], ...] = (),
) -> Finding:
    """A finding of a dataset. `page`, `ticket`: so long after its beginning it is that urgent."""
    name = dataset(number)
    return Finding(
        id=finding_id(FindingKind.SLO, name, str(since), source),
        kind=FindingKind.SLO,
        rule="shop/fresh",
        dataset=name,
        since=since,
        until=until,
        ticket_since=None if ticket is None else since + ticket,
        page_since=None if page is None else since + page,
        reason=f"{number} is late",
        source=source,
        quiet=quiet,
    )


def act(of: Finding, kind: str, time: int, **members: object) -> Act:
    """What a person does about the incident that a finding opens."""
    record = IncidentActRecord(incident=of.incident, dataset=str(of.dataset), act=kind, **members)  # type: ignore[arg-type]  # of any kind
    return Act(id=f"{kind}{time}", time=time, namespace=of.dataset.namespace, person="ana", record=record)


@dataclass(frozen=True)
class Estate:
    """Random findings, and the direct edges among their datasets and a few others."""

    edges: frozenset[tuple[int, int]]
    findings: tuple[Finding, ...]

    @property
    def relation(self) -> UpstreamRelation:
        """What is upstream of each dataset, by walking back along the edges."""
        wrong = {one.dataset for one in self.findings}
        upstream = {}
        for number in {end for edge in self.edges for end in edge}:
            seen: set[int] = set()
            stack = [source for source, target in self.edges if target == number]
            while stack:
                at = stack.pop()
                if at not in seen:
                    seen.add(at)
                    stack += [source for source, target in self.edges if target == at]
            upstream[dataset(number)] = frozenset(map(dataset, seen)) & wrong
        return UpstreamRelation(upstream={name: some for name, some in upstream.items() if name in wrong})


def random_estate(seed: int) -> Estate:
    """An estate with cycles, several findings of one dataset, and single runs seen in several datasets."""
    chance = random.Random(seed)
    edges = frozenset((chance.randrange(12), chance.randrange(12)) for _ in range(chance.randrange(4, 20)))
    findings = {}
    for _ in range(chance.randrange(1, 12)):
        since = chance.randrange(30)
        until = since + chance.randrange(12) if chance.random() < 0.7 else None
        page = chance.randrange(4) if chance.random() < 0.3 else None
        source = chance.choice(("", "", "", "run one", "run two"))
        one = finding(chance.randrange(12), since, until, page=page, source=source)
        findings[one.id] = one
    return Estate(edges, tuple(findings.values()))


Membership = tuple[str, frozenset[str], frozenset[str]]
"""The finding that opens an incident, all its findings, and the findings that open the other possible roots."""


def expected_incidents(estate: Estate, rules: IncidentRules = RULES) -> set[Membership]:
    """The incidents of an estate, from the sentences of the reference, pair by pair."""
    lasting = [one for one in estate.findings if one.until is None or one.until > one.since]
    episodes = _components(lasting, lambda one, other: one.dataset == other.dataset and _touch(one, other, rules.grace))
    upstream = {**dict.fromkeys((one.dataset for one in estate.findings), frozenset()), **estate.relation.upstream}

    def explains(cause: frozenset[Finding], effect: frozenset[Finding]) -> bool:
        if {one.source for one in cause if one.source} & {one.source for one in effect}:
            return True
        name, other = next(iter(cause)).dataset, next(iter(effect)).dataset
        end = max((float("inf") if one.until is None else one.until) for one in cause)
        begin = min(one.since for one in effect)
        in_time = min(one.since for one in cause) <= begin + rules.slack and begin <= end + rules.slack
        return name in upstream[other] and in_time

    direct = {(a, b) for a, b in product(episodes, repeat=2) if a != b and explains(a, b)}
    reach = _floyd_warshall(episodes, direct)
    roots = [one for one in episodes if all((one, other) in reach for other in episodes if (other, one) in reach)]
    found: dict[str, tuple[set[str], set[str]]] = {}
    for one in episodes:
        above = [root for root in roots if root == one or (root, one) in reach]
        openers = sorted({_opener(root, roots, reach) for root in above}, key=lambda some: some.order)
        members, others = found.setdefault(openers[0].id, (set(), set()))
        members |= {each.id for each in one}
        others |= {each.id for each in openers[1:]}
    return {(id_, frozenset(members), frozenset(others)) for id_, (members, others) in found.items()}


Episode = frozenset[Finding]


def _opener(root: Episode, roots: Sequence[Episode], reach: AbstractSet[tuple[Episode, Episode]]) -> Finding:
    cycle = {root, *(one for one in roots if (one, root) in reach and (root, one) in reach)}
    return min((each for one in cycle for each in one), key=lambda some: some.order)


def _touch(one: Finding, other: Finding, grace: int) -> bool:
    ends = [float("inf") if each.until is None else each.until for each in (one, other)]
    return max(one.since, other.since) <= min(ends) + grace


def _components(findings: Sequence[Finding], is_near: Callable[[Finding, Finding], bool]) -> list[Episode]:
    rest, found = list(findings), []
    while rest:
        component = [rest.pop()]
        for one in component:  # it grows
            near = [other for other in rest if is_near(one, other)]
            component += near
            rest = [other for other in rest if other not in near]
        found.append(frozenset(component))
    return found


def _floyd_warshall(
    nodes: Sequence[Episode], direct: AbstractSet[tuple[Episode, Episode]]
) -> AbstractSet[tuple[Episode, Episode]]:
    reach = set(direct)
    for middle in nodes:
        for one, other in product(nodes, repeat=2):
            if (one, middle) in reach and (middle, other) in reach:
                reach.add((one, other))
    return reach


def expected_states(findings: Sequence[Finding], acts: Sequence[Act], end: int) -> Mapping[int, tuple[str, str | None]]:
    """The state at each time until an end, one tick after the other."""
    state, found, was_open, was_wrong, by_itself = "resolved", {}, False, False, False
    for time in range(end + 1):
        open_ones = [one for one in findings if one.is_open_at(time)]
        wrong = any(not _is_quiet(one, time) for one in open_ones)
        if any(one.since == time for one in findings):
            again = state == "resolved" or (by_itself and state == "mitigated")
            state = "open" if again else state
        elif was_open and not open_ones:
            state = "resolved"
        elif was_wrong and not wrong and state in ("open", "acknowledged"):
            state, by_itself = "mitigated", True
        elif wrong and by_itself and state == "mitigated":
            state = "open"
        before = state
        for each in sorted((one for one in acts if one.time == time), key=lambda one: one.id):
            match each.record.act, state:
                case "acknowledge", "open":
                    state = "acknowledged"
                case "mitigate", "open" | "acknowledged":
                    state = "mitigated"
                case "resolve", _:
                    state = "resolved"
                case "reopen", _:
                    state = "open"
        by_itself = by_itself and state == before
        urgent = [level for one in open_ones for level in _levels(one, time)]
        notify = None if state == "resolved" else min(urgent, default=None)
        found[time], was_open, was_wrong = (state, notify), bool(open_ones), wrong
    return found


def _is_quiet(one: Finding, time: int) -> bool:
    return any(begin <= time and (end is None or time < end) for begin, end in one.quiet)


def _levels(one: Finding, time: int) -> list[str]:
    page = ["page"] if one.page_since is not None and one.page_since <= time else []
    return page + (["ticket"] if one.ticket_since is not None and one.ticket_since <= time else [])
