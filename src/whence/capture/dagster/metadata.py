"""Metadata of assets, as Dagster's GraphQL API writes it: entries with a label, whose type says where the value is."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from whence.capture.dagster.records import Key, key_of
from whence.openlineage.json.wire import Json
from whence_client.events.datasets import Field

_TEXTS = {"TextMetadataEntry": "text", "PathMetadataEntry": "path", "UrlMetadataEntry": "url"}
_NUMBERS = {"FloatMetadataEntry": "floatValue", "BoolMetadataEntry": "boolValue", "TimestampMetadataEntry": "timestamp"}
_SCHEMA, _LINEAGE, _CODE = "TableSchemaMetadataEntry", "TableColumnLineageMetadataEntry", "CodeReferencesMetadataEntry"

ColumnSources = Mapping[str, tuple[tuple[Key, str], ...]]
"""By column, the assets and their columns that it comes from."""

Numbers = dict[str, int | float | bool]


@dataclass(frozen=True, slots=True)
class Metadata:
    """The entries of an event or of a definition."""

    entries: tuple[Json, ...] = ()

    def text(self, *labels: str) -> str:
        """The first text, path or URL under one of these labels; empty if there is none."""
        for label in labels:
            for one in self.entries:
                member = _TEXTS.get(one["__typename"])
                if member and one["label"] == label and one.get(member):
                    return str(one[member])
        return ""

    def numbers(self) -> Numbers:
        """All values that are numbers, times or truth values. Texts, documents and tables may show rows of data."""
        return dict(self._numbers())

    def columns(self) -> tuple[Field, ...]:
        """The columns: of `dagster/column_schema`, else of the first schema that there is."""
        schemas = [one for one in self.entries if one["__typename"] == _SCHEMA]
        chosen = next((one for one in schemas if one["label"] == "dagster/column_schema"), None)
        chosen = chosen or next(iter(schemas), None) or {}
        listed = (chosen.get("schema") or {}).get("columns") or ()
        return tuple(
            Field(str(one["name"]), _written(one.get("type")), _written(one.get("description"))) for one in listed
        )

    def column_sources(self) -> "ColumnSources | None":
        """The sources of each column by `dagster/column_lineage`; None if that was not reported."""
        for one in self.entries:
            if one["__typename"] == _LINEAGE:
                return {
                    str(entry["columnName"]): tuple(
                        (key_of(dep["assetKey"]), str(dep["columnName"])) for dep in entry["columnDeps"]
                    )
                    for entry in one.get("lineage") or ()
                }
        return None

    def code(self) -> Json:
        """The first place of the code: `{"filePath": …, "lineNumber": …}` or `{"url": …}`; empty if not known."""
        references = (one.get("codeReferences") or () for one in self.entries if one["__typename"] == _CODE)
        return next((dict(one) for listed in references for one in listed), {})

    def _numbers(self) -> Iterator[tuple[str, int | float | bool]]:
        for one in self.entries:
            if one["__typename"] == "IntMetadataEntry" and one.get("intRepr"):
                yield one["label"], int(one["intRepr"])  # a number may be too large for GraphQL's Int
            elif (value := one.get(_NUMBERS.get(one["__typename"], ""))) is not None:
                yield one["label"], value


def metadata_of(owner: Json) -> Metadata:
    """The metadata of an event or a definition."""
    return Metadata(tuple(owner.get("metadataEntries") or ()))


def pairs(listed: Iterable[Mapping[str, Any]] | None) -> dict[str, str]:
    """Tags as Dagster lists them: `[{"key": …, "value": …}]`."""
    return {str(one["key"]): str(one.get("value") or "") for one in listed or ()}


def _written(value: object) -> str:
    return "" if value is None else str(value)
