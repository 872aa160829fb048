"""What lineage covers, and where it begins without anybody knowing why. Pure functions of datasets and links."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whence.govern.reports.weekly import CoverageAt
from whence.model.names import DatasetName
from whence.store.status.linked_datasets import KnownDataset, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageAt:
    """The lineage at a time (µs), and by the id of each name of a dataset the id of the name that represents it."""

    at: int
    links: Sequence[Link]
    representatives: Mapping[int, int]

    def represent(self, ids: Iterable[int]) -> frozenset[int]:
        """The datasets that these are names of; 0 is none."""
        return frozenset(self.representatives.get(id_, id_) for id_ in ids if id_)

    @property
    def apart(self) -> Sequence[Link]:
        """The links between two datasets that are not the same, by their representatives."""
        several = (
            one._replace(
                source_id=self.representatives.get(one.source_id, one.source_id),
                target_id=self.representatives.get(one.target_id, one.target_id),
            )
            for one in self.links
        )
        return [one for one in several if one.source_id != one.target_id]


def measure_coverage(datasets: Sequence[KnownDataset], lineage: LineageAt, tier1: Collection[int]) -> CoverageAt:
    """The coverage of the datasets that were known at the time; aliases count once. `tier1`: representatives."""
    known = {one.representative_id for one in datasets if one.first_seen <= lineage.at}
    between = [one for one in lineage.apart if one.source_id and one.target_id]
    linked = known & {id_ for one in between for id_ in (one.source_id, one.target_id)}
    columns = known & {id_ for one in between if one.is_of_columns for id_ in (one.source_id, one.target_id)}
    important = known & set(tier1)
    return CoverageAt(
        datasets=len(known),
        lineage=len(linked),
        columns=len(columns),
        tier1=len(important),
        tier1_lineage=len(important & linked),
        tier1_columns=len(important & columns),
    )


def find_unknown_upstreams(lineage: LineageAt, origins: Collection[int]) -> frozenset[int]:
    """The datasets (representatives) that others are made of, and that no job writes and nothing is upstream of, as far
    as anybody knows; without those that are asserted to be origins.
    """
    read = {one.source_id for one in lineage.apart if one.source_id and one.target_id}
    made = {one.target_id for one in lineage.apart if one.target_id}
    return frozenset(read - made - lineage.represent(origins))


def names_of(datasets: Iterable[KnownDataset]) -> Mapping[int, tuple[DatasetName, ...]]:
    """The names of each dataset by its representative's id, that of the representative first."""
    found: dict[int, list[tuple[bool, DatasetName]]] = {}
    for one in datasets:
        found.setdefault(one.representative_id, []).append((one.id != one.representative_id, one.name))
    return {id_: tuple(name for _, name in sorted(several)) for id_, several in found.items()}
