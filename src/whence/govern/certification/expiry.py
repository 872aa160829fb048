"""Which certified datasets cease to be so on a day that is known: the last one of their contract."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from whence.model.ids import node_id
from whence.model.names import DatasetName
from whence.query.lookup.contracts import CARRIERS, ContractedDataset, contracted_datasets
from whence.query.ports.catalog import Catalog

_AT_ONCE = 500
"""Datasets whose facets are in memory at one time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiring:
    """A dataset, and the last day of the version of its contract that holds."""

    dataset: DatasetName
    version: str
    last_day: date


def list_last_days(catalog: Catalog, certified: Collection[DatasetName]) -> Sequence[Expiring]:
    """The certified datasets whose contract states a last day, the nearest first."""
    carriers = {id_ for facet in CARRIERS for id_ in catalog.carrying(facet)}
    wanted = sorted(carriers & {node_id(one) for one in certified})
    found = [one for several in _batches(catalog, wanted) for one in several]
    return sorted(found, key=lambda one: (one.last_day, one.dataset))


def expiring_within(last_days: Iterable[Expiring], today: date, days: int) -> Sequence[Expiring]:
    """Those whose last day is at most some days ahead. What is over has lapsed."""
    until = today + timedelta(days=days)
    return [one for one in last_days if today <= one.last_day <= until]


def _batches(catalog: Catalog, ids: Sequence[int]) -> Iterator[Iterable[Expiring]]:
    for first in range(0, len(ids), _AT_ONCE):
        entries = catalog.entries(ids[first : first + _AT_ONCE])
        contracted = contracted_datasets(catalog, list(entries.values()))
        yield (found for one in contracted if (found := _expiring(one)))


def _expiring(one: ContractedDataset) -> Expiring | None:
    held = one.at()
    if held is None or held.last_day is None:
        return None
    return Expiring(dataset=one.name, version=held.version, last_day=held.last_day)
