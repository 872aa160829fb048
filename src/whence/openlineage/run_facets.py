"""Facets that belong to one run (`run.facets`, `inputFacets`, `outputFacets`), read from their texts, of which the
events of a run repeat most.
"""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from whence.model.events import Facet
from whence.model.names import JobName, RunName
from whence.openlineage.facets.error_messages import is_partial
from whence.openlineage.facets.facets import encode_run_facets, read_facets
from whence.openlineage.facets.parent_run import read_parents
from whence.openlineage.facets.warnings import Note, Notes
from whence.openlineage.json.split_event import FacetTexts

_CACHED_BYTES = 16_384
"""The results of longer texts are not cached, so that large events do not fill the memory."""

_decode = msgspec.json.Decoder().decode

Place = tuple[str, str]
"""The JSON pointer of an object, and its member that has facets."""

_Parents = tuple[RunName | None, RunName | None]


class RunFacet(msgspec.Struct, frozen=True):
    """What was read of one facet: nothing if it is not an object."""

    facets: tuple[Facet, ...]
    partial: bool
    """Whether the producer reports by it that the run's lineage is incomplete."""
    notes: tuple[Note, ...]


def read_run_facets(texts: FacetTexts, place: Place, notes: Notes) -> Sequence[RunFacet]:
    """Read facets. Raises EventError for invalid keys."""
    read = [
        (_read_run_facet_cached if len(text) < _CACHED_BYTES else _read_run_facet)(place, key, text)
        for key, text in texts
    ]
    for one in read:
        if one.notes:
            notes.add_all(one.notes)
    return read


def _read_run_facet(place: Place, key: str, text: bytes) -> RunFacet:
    (at, member), notes = place, Notes()
    facets = read_facets({member: {key: _decode(text)}}, member, at, notes)
    kept = encode_run_facets(facets, f"{at}/{member}", notes)
    return RunFacet(kept, is_partial(facets), notes.taken())


_read_run_facet_cached = lru_cache(maxsize=4_096)(_read_run_facet)


def read_split_parents(texts: FacetTexts, own: JobName, notes: Notes) -> _Parents:
    """Read the parent run and the root run of a run of the job `own`. Raises EventError for invalid names."""
    for key, text in texts:
        if key == "parent":
            parents, found = (_read_parents_cached if len(text) < _CACHED_BYTES else _read_parents)(text, own)
            notes.add_all(found)
            return parents
    return None, None


def _read_parents(text: bytes, own: JobName) -> tuple[_Parents, tuple[Note, ...]]:
    notes = Notes()
    facets = read_facets({"facets": {"parent": _decode(text)}}, "facets", "/run", Notes())
    return read_parents(facets, own, "/run/facets", notes), notes.taken()


_read_parents_cached = lru_cache(maxsize=1_024)(_read_parents)
