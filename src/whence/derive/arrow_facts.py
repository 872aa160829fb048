"""The pipeline's rows (`schema.ROW_SCHEMA`) as facts to merge: flattened and unpacked only when asked for."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from whence.derive.schema import SHAPES, Shape
from whence.store.facts import FacetKey, Pair
from whence.store.merge import Row
from whence.store.packed import SchemaContent, SetContent, unpack_schema, unpack_set


@dataclass(frozen=True, slots=True)
class ArrowFacts:
    """A chunk of rows. Each list is flattened once."""

    chunk: pa.Table
    _lists: dict[str, tuple[pa.StructArray, pa.Array]] = field(default_factory=dict)

    def rows(self, table: str) -> list[Row]:
        return [row for shape in SHAPES[table] for row in self._shaped(shape)]

    def sets(self, ids: AbstractSet[int]) -> Mapping[int, SetContent]:
        content = self._content("sets", ("id",), "content", {(one,) for one in ids})
        return {id_: unpack_set(data) for (id_,), data in content.items()}

    def schemas(self, keys: AbstractSet[Pair]) -> Mapping[Pair, SchemaContent]:
        content = self._content("schemas", ("dataset_id", "body_id"), "content", keys)
        return {(dataset, body): unpack_schema(data) for (dataset, body), data in content.items()}

    def payloads(self, keys: AbstractSet[FacetKey]) -> Mapping[FacetKey, str]:
        content = self._content("facets", ("subject_id", "name", "body_id"), "payload", keys)
        return {(subject, name, body): payload for (subject, name, body), payload in content.items()}

    def _shaped(self, shape: Shape) -> Sequence[Row]:
        if shape.each:
            _, owners = self._list(shape.each)
        else:
            owners = pc.indices_nonzero(pc.is_valid(self.chunk.column(shape.where)))
        return list(zip(*(self._column(source, owners) for source in shape.columns), strict=True))

    def _column(self, source: str | int | None, owners: pa.Array) -> list[Any]:
        """Values for the rows that belong to the records `owners`, which of a list are those of its elements."""
        if not isinstance(source, str):
            return [source] * len(owners)
        list_, _, name = source.rpartition(".")
        found = self._list(list_)[0].field(name) if list_ else self.chunk.column(name).take(owners)
        values: list[Any] = found.to_pylist()
        return values

    def _content(self, list_: str, keys: tuple[str, ...], column: str, wanted: AbstractSet[Row]) -> Mapping[Row, Any]:
        """The column's value for each wanted key. Equal keys have equal values: one of them is read."""
        if not wanted:
            return {}
        structs, _ = self._list(list_)
        places = {
            key: place for place, key in enumerate(zip(*(structs.field(k).to_pylist() for k in keys), strict=True))
        }
        found = {key: places[key] for key in wanted if key in places}
        values = structs.field(column).take(pa.array(found.values(), pa.int64())).to_pylist()
        return dict(zip(found, values, strict=True))

    def _list(self, name: str) -> tuple[pa.StructArray, pa.Array]:
        """The elements of a list, and the place of the record that each belongs to."""
        if name not in self._lists:
            column = self.chunk.column(name).combine_chunks()
            self._lists[name] = (pc.list_flatten(column), pc.list_parent_indices(column))
        return self._lists[name]
