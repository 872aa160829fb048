"""The pipeline's rows (`schema.ROW_SCHEMA`) as facts to merge: flattened and unpacked only on request."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from whence.derive.reading.schema import SHAPES, Shape
from whence.store.ingest.facts import FacetKey, Pair
from whence.store.schema.merge import Row
from whence.store.schema.packed import SchemaContent, SetContent, unpack_schema, unpack_set


@dataclass(frozen=True, slots=True)
class ArrowFacts:
    """A chunk of rows. Each list is flattened once."""

    chunk: pa.Table
    _lists: dict[str, tuple[pa.StructArray, pa.Array]] = field(default_factory=dict)

    def rows(self, table: str) -> list[Row]:
        return [row for shape in SHAPES[table] for row in self._shaped(shape)]

    def sets(self, ids: AbstractSet[int]) -> Mapping[int, SetContent]:
        content = self._content("sets", ("id",), "content", {(id_,) for id_ in ids})
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
        """The values of a column for the rows of the records `owners`; for a list, those of its elements."""
        if not isinstance(source, str):
            return [source] * len(owners)
        list_, _, name = source.rpartition(".")
        column = self._list(list_)[0].field(name) if list_ else self.chunk.column(name).take(owners)
        values: list[Any] = column.to_pylist()
        return values

    def _content(self, list_: str, keys: tuple[str, ...], column: str, wanted: AbstractSet[Row]) -> Mapping[Row, Any]:
        """The column's value for each wanted key. Equal keys have equal values, so one of them is read."""
        if not wanted:
            return {}
        structs, _ = self._list(list_)
        indices = {
            key: index for index, key in enumerate(zip(*(structs.field(k).to_pylist() for k in keys), strict=True))
        }
        wanted_indices = {key: indices[key] for key in wanted if key in indices}
        values = structs.field(column).take(pa.array(wanted_indices.values(), pa.int64())).to_pylist()
        return dict(zip(wanted_indices, values, strict=True))

    def _list(self, name: str) -> tuple[pa.StructArray, pa.Array]:
        """The elements of a list, and the index of the record that each belongs to."""
        if name not in self._lists:
            column = self.chunk.column(name).combine_chunks()
            self._lists[name] = (pc.list_flatten(column), pc.list_parent_indices(column))
        return self._lists[name]
