"""Names of datasets, fields, jobs and runs, and the node ids that clients type and read.

A node id is `dataset:<namespace>:<name>`, `datasetField:<namespace>:<name>:<field>`, `job:<namespace>:<name>` or
`run:<uuid>`, the form that Marquez clients use. The namespace is not encoded, colons included; in the later parts `%`
and `:` are percent-encoded, so that every identity round-trips.
"""

from dataclasses import dataclass
from urllib.parse import unquote


@dataclass(frozen=True, slots=True, order=True)
class DatasetName:
    """OpenLineage's identity of a dataset."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"dataset:{self.namespace}:{_escape(self.name)}"


@dataclass(frozen=True, slots=True, order=True)
class FieldName:
    """A column of a dataset; nested fields are dotted (`address.city`)."""

    dataset: DatasetName
    field: str

    def __str__(self) -> str:
        return f"datasetField:{self.dataset.namespace}:{_escape(self.dataset.name)}:{_escape(self.field)}"


@dataclass(frozen=True, slots=True, order=True)
class JobName:
    """OpenLineage's identity of a job."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"job:{self.namespace}:{_escape(self.name)}"


@dataclass(frozen=True, slots=True, order=True)
class RunName:
    """A run id (lower-case UUID) within its job: one id claimed by two jobs is two runs."""

    run_id: str
    job: JobName

    def __str__(self) -> str:
        return f"run:{self.run_id}"


Node = DatasetName | FieldName | JobName


def parse_node(text: str) -> Node | None:
    """The node that a full node id names, or None if `text` is not a full node id (a short form, a run)."""
    kind, _, rest = text.partition(":")
    parts = rest.rsplit(":", 2 if kind == "datasetField" else 1)
    match kind, parts:
        case "dataset", [namespace, name]:
            return DatasetName(namespace, unquote(name))
        case "job", [namespace, name]:
            return JobName(namespace, unquote(name))
        case "datasetField", [namespace, name, field]:
            return FieldName(DatasetName(namespace, unquote(name)), unquote(field))
    return None


def _escape(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")
