"""Episodes: times in which a dataset was wrong, and which of them may explain which. Pure, and independent of order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.incidents.findings import Finding
from whence.govern.incidents.incident import IncidentRules, UpstreamRelation
from whence.model.names import DatasetName


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """The findings of one dataset with no longer pause between them than the grace, in order."""

    dataset: DatasetName
    findings: tuple[Finding, ...]
    until: int | None

    @property
    def since(self) -> int:
        """When it began (µs)."""
        return self.findings[0].since


@dataclass(frozen=True, slots=True, kw_only=True)
class RootGroup:
    """Episodes that explain each other, and that nothing else explains: indices, and those of what they explain.

    `others`: indices of episodes that also may be the root of one of these.
    """

    roots: tuple[int, ...]
    explained: tuple[int, ...]
    others: tuple[int, ...]


def find_episodes(
    findings: Iterable[Finding], representatives: Mapping[DatasetName, DatasetName], grace: int
) -> Sequence[Episode]:
    """The episodes of all datasets, by beginning. Findings that were over when they began are left out."""
    by_dataset: dict[DatasetName, list[Finding]] = {}
    for one in findings:
        if one.until is None or one.since < one.until:
            by_dataset.setdefault(representatives.get(one.dataset, one.dataset), []).append(one)
    found = [each for dataset, some in by_dataset.items() for each in _divide(dataset, some, grace)]
    return sorted(found, key=lambda each: each.findings[0].order)


def _divide(dataset: DatasetName, findings: Iterable[Finding], grace: int) -> Iterator[Episode]:
    some, until = list[Finding](), None
    for one in sorted(findings, key=lambda one: one.order):
        if some and until is not None and one.since > until + grace:
            yield Episode(dataset=dataset, findings=tuple(some), until=until)
            some = []
        until = _later(until, one.until) if some else one.until
        some.append(one)
    if some:
        yield Episode(dataset=dataset, findings=tuple(some), until=until)


def _later(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


def find_root_groups(
    episodes: Sequence[Episode], relation: UpstreamRelation, rules: IncidentRules
) -> Sequence[RootGroup]:
    """Divide episodes among the roots that explain them: each goes to the root that began first.

    An episode explains another if its dataset is upstream of the other's, it began no later and ended no earlier, give
    or take the slack; and it explains what that one explains. Both explain each other if one source is behind both.
    """
    reach = _close(_explaining(episodes, relation, rules.slack))
    is_root = [all(reach[other] >> index & 1 for other in _bits(mask)) for index, mask in enumerate(reach)]
    group = {index: min((index, *_bits(reach[index]))) for index, root in enumerate(is_root) if root}
    members: dict[int, list[int]] = {}
    for index, first in group.items():
        members.setdefault(first, []).append(index)
    explained: dict[int, list[int]] = {first: [] for first in members}
    others: dict[int, set[int]] = {first: set() for first in members}
    for index, mask in enumerate(reach):
        # Episodes are in order, so the first root began first.
        first, *rest = sorted({group[one] for one in (index, *_bits(mask)) if is_root[one]})
        explained[first].append(index)
        others[first] |= set(rest)
    return [
        RootGroup(roots=tuple(roots), explained=tuple(explained[first]), others=tuple(sorted(others[first])))
        for first, roots in members.items()
    ]


def _explaining(episodes: Sequence[Episode], relation: UpstreamRelation, slack: int) -> list[int]:
    """For each episode the episodes that explain it directly, as the bits of a number."""
    by_dataset: dict[DatasetName, list[int]] = {}
    by_source: dict[str, int] = {}
    for index, one in enumerate(episodes):
        by_dataset.setdefault(one.dataset, []).append(index)
        for source in {each.source for each in one.findings if each.source}:
            by_source[source] = by_source.get(source, 0) | 1 << index
    found = []
    for index, one in enumerate(episodes):
        upstream = (other for name in relation.upstream.get(one.dataset, ()) for other in by_dataset.get(name, ()))
        mask = _mask(other for other in upstream if _may_explain(episodes[other], one, slack))
        for source in {each.source for each in one.findings if each.source}:
            mask |= by_source[source]
        found.append(mask & ~(1 << index))
    return found


def _may_explain(cause: Episode, effect: Episode, slack: int) -> bool:
    return cause.since <= effect.since + slack and (cause.until is None or effect.since <= cause.until + slack)


def _close(masks: list[int]) -> list[int]:
    """The transitive closure of a relation. Few rounds: what is upstream is known however far it is."""
    reach, is_changed = list(masks), True
    while is_changed:
        is_changed = False
        for index, mask in enumerate(reach):
            wider = mask
            for other in _bits(mask):
                wider |= reach[other]
            if wider != mask:
                reach[index], is_changed = wider, True
    return reach


def _mask(indices: Iterable[int]) -> int:
    mask = 0
    for index in indices:
        mask |= 1 << index
    return mask


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
