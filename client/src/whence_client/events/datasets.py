"""Datasets and their columns, as an event names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from whence_client.events.facets import Facet, facet


@dataclass(frozen=True)
class Column:
    """A column of a dataset; nested fields are dotted (`address.city`)."""

    namespace: str
    name: str
    field: str


@dataclass(frozen=True)
class Field:
    """A column with its type, in the words of its system. `fields` are those of a struct."""

    name: str
    type: str = ""
    description: str = ""
    fields: tuple[Field, ...] = ()

    def document(self) -> dict[str, Any]:
        """The field as the schema facet writes it."""
        members: dict[str, Any] = {"name": self.name, "type": self.type, "description": self.description}
        if self.fields:
            members["fields"] = [one.document() for one in self.fields]
        return {key: value for key, value in members.items() if value}


FieldLike = Union[Field, str, Mapping[str, Any]]


@dataclass(frozen=True)
class Dataset:
    """A dataset by OpenLineage's names. `schema_fields`: its columns, as Field, name, or a `schema` facet's object.

    `facets` are dataset facets by key; `run_facets` are those of this run: inputFacets or outputFacets.

    >>> Dataset("s3://lake", "raw/orders", ["id"])["id"]
    Column(namespace='s3://lake', name='raw/orders', field='id')
    """

    namespace: str
    name: str
    schema_fields: Sequence[FieldLike] = ()
    facets: Mapping[str, Facet] = field(default_factory=dict)
    run_facets: Mapping[str, Facet] = field(default_factory=dict)

    def __getitem__(self, column: str) -> Column:
        return Column(self.namespace, self.name, column)

    @property
    def key(self) -> tuple[str, str]:
        """Its identity."""
        return self.namespace, self.name

    def document(self, run_facets_key: str) -> dict[str, Any]:
        """The dataset as an event writes it. `run_facets_key` is `inputFacets` or `outputFacets`."""
        facets = dict(self.facets)
        if self.schema_fields and "schema" not in facets:
            facets["schema"] = facet("SchemaDatasetFacet", fields=[_document(one) for one in self.schema_fields])
        members = {"namespace": self.namespace, "name": self.name, "facets": facets}
        return {**members, run_facets_key: dict(self.run_facets)} if self.run_facets else members


def _document(one: FieldLike) -> dict[str, Any]:
    if isinstance(one, Field):
        return one.document()
    return {"name": one} if isinstance(one, str) else dict(one)
