"""What Whence records of lineage that people accepted: each acceptance has a registry dataset of its own, so that none
replaces another.
"""

from dataclasses import dataclass
from hashlib import sha256

from whence.model.catalog import RegistryKind
from whence.model.ids import netstrings
from whence.model.names import DatasetName

LINEAGE_BASELINE = "whence_lineageBaseline"
"""The facet's key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageBaselineRecord:
    """The lineage upstream of a dataset, as a person accepted it at the time of the event.

    `edges`: a key for each edge, sorted (`edge_key`), none for a reader who may not see everything; `position`: what
    the store had read of the log; `ended`: the dataset has no baseline from then on.
    """

    dataset: str
    edges: tuple[str, ...] = ()
    position: str = ""
    reason: str = ""
    ended: bool = False

    @property
    def digest(self) -> str:
        """A hash of the edges: equal for equal lineage."""
        return _digest(*self.edges)


def edge_key(source: str, target: str, transformations: tuple[str, ...]) -> str:
    """The key of an edge: a hash of its ends, and one of its transformations, in a defined order. Names are not
    readable in it, so that a baseline may have edges that not everybody may see.
    """
    return f"{_digest(source, target)}.{_digest(*transformations)[:8]}"


def lineage_baseline_dataset(namespace: str, record: LineageBaselineRecord, at: int) -> DatasetName:
    """The registry dataset of an acceptance at a time (µs). `namespace`: of the dataset."""
    key = f"{_digest(record.dataset)}/{_digest(str(at), record.digest, record.reason)}"
    return RegistryKind.LINEAGE_BASELINE.dataset_of(f"{key}/{namespace}")


def _digest(*parts: str) -> str:
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
