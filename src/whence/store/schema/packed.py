"""Packed columns: content that is written once and never changes, as bytes."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

Row = tuple[Any, ...]

Measured = tuple[str, str, int | float]
"""Column (empty: the dataset), metric, value."""

MEASURED_FACETS = (
    ("", "dataQualityMetrics"),
    ("input", "dataQualityMetrics"),
    ("input", "inputStatistics"),
    ("output", "dataQualityMetrics"),
    ("output", "outputStatistics"),
)
"""Role and facet of a measurement, by the number that replaces them. Part of the format: new ones are appended."""

MEASURED_FACET_NUMBERS = {measured: number for number, measured in enumerate(MEASURED_FACETS)}

COMPRESSED = b"1"
"""The first byte of what `deflate` returns."""

_COMMON = (
    b'{"_producer":"https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark","_schemaURL":'
    b'"https://openlineage.io/spec/facets/1-0-0/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet","message":'
    b'"programmingLanguage":"PYTHON","stackTrace":'
    b"1-0-0/InputStatisticsInputDatasetFacet.json#/$defs/InputStatisticsInputDatasetFacet"
    b"1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet"
    b'"rowCount":0,"size":0,"fileCount":0'
    b"SparkPropertiesFacet.json#/$defs/SparkPropertiesFacet"
    b'"properties":{"spark.app.name":"","spark.master":"yarn","spark.submit.deployMode":"cluster"}'
    b"1-1-1/ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet"
    b'"name":"spark","openlineageAdapterVersion":"1.53.0","version":"4.0.0"'
    b"1-0-1/NominalTimeRunFacet.json#/$defs/NominalTimeRunFacet"
    b'"nominalEndTime":"2026-01-01T00:00:00Z","nominalStartTime":"2026-01-01T00:00:00Z"}'
    b"1-1-0/ParentRunFacet.json#/$defs/ParentRunFacet"
    b'"job":{"name":"","namespace":"airflow"},"root":{"job":{"name":"","namespace":"airflow"},"run":{"runId":"019"}},'
    b'"run":{"runId":"019"}}outputoutputStatisticsinputinputStatisticsspark_propertiesprocessing_enginenominalTimeparent'
)
"""The text that most run facets share. Part of the format: a change makes stored content unreadable."""

_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class SetContent:
    """The rows of `lineage_edge` and `unreported_column` of one set, and those of `field` for the fields in them."""

    edges: Sequence[Row]
    fields: Sequence[Row]
    unreported: Sequence[Row] = ()


@dataclass(frozen=True, slots=True)
class SchemaContent:
    """The payload of a schema facet, and the rows of `field` that it declares."""

    payload: str
    fields: Sequence[Row]


def pack_set(content: SetContent) -> bytes:
    """The inverse of `unpack_set`."""
    return _encode((content.edges, content.fields, content.unreported))


def unpack_set(data: bytes) -> SetContent:
    """Unpack the rows of a set."""
    return SetContent(*_decode_rows(data))


def pack_schema(content: SchemaContent) -> bytes:
    """The inverse of `unpack_schema`."""
    return _encode((content.payload, content.fields))


def unpack_schema(data: bytes) -> SchemaContent:
    """Unpack a payload and its rows."""
    payload, fields = _decode_schema(data)
    return SchemaContent(payload, fields)


def deflate(content: bytes) -> bytes:
    """Compress content against the text that most run facets share: a few kB become some hundred bytes."""
    stream = zlib.compressobj(level=6, wbits=-15, zdict=_COMMON)
    return b"".join((COMPRESSED, stream.compress(content), stream.flush()))


def inflate(data: bytes) -> bytes:
    """The inverse of `deflate`."""
    return zlib.decompressobj(wbits=-15, zdict=_COMMON).decompress(data[len(COMPRESSED) :])


def pack_measurements(measured: Sequence[Measured]) -> bytes:
    """The inverse of `unpack_measurements`."""
    return _encode(measured)


def unpack_measurements(data: bytes) -> list[Measured]:
    """Unpack column (empty: the dataset), metric and value of each measurement."""
    return _decode_measured(data)


_decode_measured = msgspec.msgpack.Decoder(list[Measured]).decode
_decode_rows = msgspec.msgpack.Decoder(tuple[list[tuple], list[tuple], list[tuple]]).decode  # type: ignore[type-arg]
_decode_schema = msgspec.msgpack.Decoder(tuple[str, list[tuple]]).decode  # type: ignore[type-arg]  # any columns
