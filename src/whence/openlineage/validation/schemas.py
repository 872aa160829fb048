"""JSON Schemas of events and facets, derived from the attrs classes of `openlineage-python` (reference 0.3, 1.8).

The package has no schemas and copies would age; its classes are generated from the same source. They define which
members are required and their types. In the classes null only stands for absence, so it is not valid in JSON.
"""

import enum
import types
import typing
from functools import cache
from typing import Any, Literal, Union

import attr
from openlineage.client import facet_v2
from openlineage.client.generated import base, lineage

Schema = dict[str, Any]

_HEADS = frozenset({"producer", "schemaURL", "_producer", "_schemaURL"})
_PRIMITIVES: dict[object, Schema] = {
    Any: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}

_RUN = {
    "nominalTime": facet_v2.nominal_time_run.NominalTimeRunFacet,
    "parent": facet_v2.parent_run.ParentRunFacet,
    "errorMessage": facet_v2.error_message_run.ErrorMessageRunFacet,
    "externalQuery": facet_v2.external_query_run.ExternalQueryRunFacet,
    "extractionError": facet_v2.extraction_error_run.ExtractionErrorRunFacet,
    "environmentVariables": facet_v2.environment_variables_run.EnvironmentVariablesRunFacet,
    "executionParameters": facet_v2.execution_parameters_run.ExecutionParametersRunFacet,
    "processing_engine": facet_v2.processing_engine_run.ProcessingEngineRunFacet,
    "jobDependencies": facet_v2.job_dependencies_run.JobDependenciesRunFacet,
    "test": facet_v2.test_run.TestRunFacet,
    "tags": facet_v2.tags_run.TagsRunFacet,
}
_JOB = {
    "jobType": facet_v2.job_type_job.JobTypeJobFacet,
    "sql": facet_v2.sql_job.SQLJobFacet,
    "sourceCode": facet_v2.source_code_job.SourceCodeJobFacet,
    "sourceCodeLocation": facet_v2.source_code_location_job.SourceCodeLocationJobFacet,
    "documentation": facet_v2.documentation_job.DocumentationJobFacet,
    "ownership": facet_v2.ownership_job.OwnershipJobFacet,
    "tags": facet_v2.tags_job.TagsJobFacet,
    "lineage": lineage.LineageJobFacet,
}
_DATASET = {
    "schema": facet_v2.schema_dataset.SchemaDatasetFacet,
    "columnLineage": facet_v2.column_lineage_dataset.ColumnLineageDatasetFacet,
    "lineage": lineage.LineageDatasetFacet,
    "symlinks": facet_v2.symlinks_dataset.SymlinksDatasetFacet,
    "lifecycleStateChange": facet_v2.lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet,
    "version": facet_v2.dataset_version_dataset.DatasetVersionDatasetFacet,
    "catalog": facet_v2.catalog_dataset.CatalogDatasetFacet,
    "hierarchy": facet_v2.hierarchy_dataset.HierarchyDatasetFacet,
    "datasetType": facet_v2.dataset_type_dataset.DatasetTypeDatasetFacet,
    "dataSource": facet_v2.datasource_dataset.DatasourceDatasetFacet,
    "storage": facet_v2.storage_dataset.StorageDatasetFacet,
    "documentation": facet_v2.documentation_dataset.DocumentationDatasetFacet,
    "ownership": facet_v2.ownership_dataset.OwnershipDatasetFacet,
    "tags": facet_v2.tags_dataset.TagsDatasetFacet,
    "dataQualityMetrics": facet_v2.data_quality_metrics_dataset.DataQualityMetricsDatasetFacet,
}
_INPUT = {
    "dataQualityMetrics": facet_v2.data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet,
    "dataQualityAssertions": facet_v2.data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet,
    "inputStatistics": facet_v2.input_statistics_input_dataset.InputStatisticsInputDatasetFacet,
    "subset": facet_v2.base_subset_dataset.InputSubsetInputDatasetFacet,
}
_OUTPUT = {
    "outputStatistics": facet_v2.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet,
    "subset": facet_v2.base_subset_dataset.OutputSubsetOutputDatasetFacet,
}
FACETS: dict[type, dict[str, type]] = {
    base.RunFacet: dict(_RUN),
    base.JobFacet: dict(_JOB),
    base.DatasetFacet: dict(_DATASET),
    base.InputDatasetFacet: dict(_INPUT),
    base.OutputDatasetFacet: dict(_OUTPUT),
}
"""The standard facets of each kind of entity: facet key → class."""

EVENTS: dict[str, type] = {"run": base.RunEvent, "job": base.JobEvent, "dataset": base.DatasetEvent}


@cache
def schema_of(cls: type) -> Schema:
    """The JSON Schema (2020-12) of a class, with the definitions of everything it refers to."""
    definitions: dict[str, Schema] = {}
    reference = _reference(cls, definitions)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **reference, "$defs": definitions}


def _reference(cls: type, definitions: dict[str, Schema]) -> Schema:
    name = f"{cls.__module__.rpartition('.')[2]}.{cls.__name__}"
    if name not in definitions:
        definitions[name] = {}
        definitions[name] = _object(cls, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _object(cls: type, definitions: dict[str, Schema]) -> Schema:
    hints = typing.get_type_hints(cls)
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for member in attr.fields(cls):
        is_constant = isinstance(member.default, str) and member.name not in _HEADS
        properties[member.name] = {"const": member.default} if is_constant else _value(hints[member.name], definitions)
        if is_constant or member.name in _HEADS or member.default is attr.NOTHING:
            required.append(member.name)
    return {"type": "object", "properties": properties, "required": required, **_joint_requirements(cls)}


def _joint_requirements(cls: type) -> Schema:
    """A job in a lineage facet has both namespace and name or neither, as its class checks on construction."""
    if cls in (lineage.LineageJobEntry, lineage.LineageJobInput):
        return {"dependentRequired": {"namespace": ["name"], "name": ["namespace"]}}
    return {}


def _value(hint: Any, definitions: dict[str, Schema]) -> Schema:
    if (primitive := _PRIMITIVES.get(hint)) is not None:
        return primitive
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if isinstance(hint, type) and attr.has(hint):
        return _reference(hint, definitions)
    match typing.get_origin(hint), typing.get_args(hint):
        case origin, args if origin in (Union, types.UnionType):
            return _union([arg for arg in args if arg is not type(None)], definitions)
        case origin, args if origin is Literal:
            return {"enum": list(args)}
        case origin, (item,) if origin is list:
            return {"type": "array", "items": _value(item, definitions)}
        case origin, (_, item) if origin is dict:
            return _mapping(item, definitions)
    raise TypeError(f"no JSON Schema for {hint!r}")


def _mapping(item: Any, definitions: dict[str, Schema]) -> Schema:
    known = {key: _reference(cls, definitions) for key, cls in FACETS.get(item, {}).items()}
    return {"type": "object", "properties": known, "additionalProperties": _value(item, definitions)}


def _union(members: list[Any], definitions: dict[str, Schema]) -> Schema:
    """One of several classes, distinguished by `type`, so that an error points into the intended class."""
    if len(members) == 1:
        return _value(members[0], definitions)
    kinds = {_kind(member): _value(member, definitions) for member in members}
    chosen = [{"if": {"properties": {"type": {"const": kind}}}, "then": schema} for kind, schema in kinds.items()]
    return {"type": "object", "required": ["type"], "properties": {"type": {"enum": list(kinds)}}, "allOf": chosen}


def _kind(cls: type) -> str:
    hint = typing.get_type_hints(cls)["type"]
    if typing.get_origin(hint) is Literal:
        return str(typing.get_args(hint)[0])
    return str(attr.fields_dict(cls)["type"].default)
