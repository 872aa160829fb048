"""Facets with the `_producer` and `_schemaURL` that OpenLineage asks for.

>>> facet("SQLJobFacet", query="select 1")["_schemaURL"]
'https://openlineage.io/spec/facets/1-1-0/SQLJobFacet.json#/$defs/SQLJobFacet'
"""

from __future__ import annotations

from typing import Any

Facet = dict[str, Any]
Event = dict[str, Any]

SPEC = "https://openlineage.io/spec"
PRODUCER = "https://pypi.org/project/whence-client"
"""The producer of events of this package. A capture of another package has its own."""

_LINEAGE = "1-0-0/LineageFacet.json"
SCHEMAS: dict[str, str] = {
    "CatalogDatasetFacet": "1-1-0/CatalogDatasetFacet.json",
    "ColumnLineageDatasetFacet": "1-2-0/ColumnLineageDatasetFacet.json",
    "DataQualityAssertionsDatasetFacet": "1-1-0/DataQualityAssertionsDatasetFacet.json",
    "DataQualityMetricsInputDatasetFacet": "1-0-3/DataQualityMetricsInputDatasetFacet.json",
    "DatasetTypeDatasetFacet": "1-0-1/DatasetTypeDatasetFacet.json",
    "DatasetVersionDatasetFacet": "1-0-1/DatasetVersionDatasetFacet.json",
    "DatasourceDatasetFacet": "1-0-1/DatasourceDatasetFacet.json",
    "DocumentationDatasetFacet": "1-1-0/DocumentationDatasetFacet.json",
    "DocumentationJobFacet": "1-1-0/DocumentationJobFacet.json",
    "ErrorMessageRunFacet": "1-0-1/ErrorMessageRunFacet.json",
    "ExecutionParametersRunFacet": "1-0-0/ExecutionParametersRunFacet.json",
    "ExternalQueryRunFacet": "1-0-2/ExternalQueryRunFacet.json",
    "ExtractionErrorRunFacet": "1-1-2/ExtractionErrorRunFacet.json",
    "InputStatisticsInputDatasetFacet": "1-0-0/InputStatisticsInputDatasetFacet.json",
    "JobTypeJobFacet": "2-0-4/JobTypeJobFacet.json",
    "LifecycleStateChangeDatasetFacet": "1-0-1/LifecycleStateChangeDatasetFacet.json",
    "LineageDatasetFacet": _LINEAGE,
    "LineageJobFacet": _LINEAGE,
    "NominalTimeRunFacet": "1-0-1/NominalTimeRunFacet.json",
    "OutputStatisticsOutputDatasetFacet": "1-0-2/OutputStatisticsOutputDatasetFacet.json",
    "OwnershipDatasetFacet": "1-0-1/OwnershipDatasetFacet.json",
    "OwnershipJobFacet": "1-0-1/OwnershipJobFacet.json",
    "ParentRunFacet": "1-2-0/ParentRunFacet.json",
    "ProcessingEngineRunFacet": "1-1-1/ProcessingEngineRunFacet.json",
    "SQLJobFacet": "1-1-0/SQLJobFacet.json",
    "SchemaDatasetFacet": "1-2-0/SchemaDatasetFacet.json",
    "SourceCodeLocationJobFacet": "1-1-0/SourceCodeLocationJobFacet.json",
    "StorageDatasetFacet": "1-0-1/StorageDatasetFacet.json",
    "SymlinksDatasetFacet": "1-0-1/SymlinksDatasetFacet.json",
    "TagsDatasetFacet": "1-0-0/TagsDatasetFacet.json",
    "TagsJobFacet": "1-0-0/TagsJobFacet.json",
    "TagsRunFacet": "1-0-0/TagsRunFacet.json",
}
"""The specification's facets that captures write, with the file and version of each schema."""


def facet(kind: str, producer: str = PRODUCER, **members: Any) -> Facet:
    """A facet of the specification. `kind` is a key of SCHEMAS; KeyError for another."""
    return {"_producer": producer, "_schemaURL": f"{SPEC}/facets/{SCHEMAS[kind]}#/$defs/{kind}", **members}


def own_facet(kind: str, producer: str = PRODUCER, **members: Any) -> Facet:
    """A facet that Whence defines; its key begins with `whence_`."""
    return {"_producer": producer, "_schemaURL": f"{PRODUCER}/facets.json#/$defs/{kind}", **members}
