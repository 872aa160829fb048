"""The facet `symlinks`, and the aliases that people assert: other names of a dataset."""

from collections.abc import Iterator

from whence.model.events import Symlink
from whence.model.names import DatasetName
from whence.openlineage.facets.facet_keys import ALIASES
from whence.openlineage.facets.facets import Facets, active_facet
from whence.openlineage.facets.warnings import Notes
from whence.openlineage.json.wire import Json, objects_in, text_of
from whence.openlineage.names.entity_names import read_dataset_name

MAX_SYMLINK_TYPE = 200


def read_symlinks(facets: Facets, own: DatasetName, at: str, notes: Notes) -> tuple[Symlink, ...]:
    """The dataset's other names: from its symlinks facet, and as asserted by people (ALIASES)."""
    return tuple(
        link
        for key in ("symlinks", ALIASES)
        if (facet := active_facet(facets, key)) is not None
        for link in _read_links(facet, own, f"{at}/{key}/identifiers", notes)
    )


def _read_links(facet: Json, own: DatasetName, at: str, notes: Notes) -> Iterator[Symlink]:
    for index, identifier in objects_in(facet.get("identifiers")):
        if not (name := read_dataset_name(identifier, f"{at}/{index}")):
            notes.add(f"{at}/{index}", "a symlink needs a namespace and a name; ignored")
        elif name != own:
            yield Symlink(name=name, type=text_of(identifier.get("type"))[:MAX_SYMLINK_TYPE])
