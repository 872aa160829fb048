"""What is read from the JVM about one query: plain values, so that a record can be kept as JSON and read again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from whence_client.lineage.columns import Dataset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whence_client.spark.plan.attributes import Leaf
    from whence_client.spark.plan.trees import Tree

READ, WRITE, LIFECYCLE = "read", "write", "lifecycle"


@dataclass(frozen=True)
class Target:
    """What a command writes.

    `columns` are the names of its columns in the order of the query's; those of the query if empty. `change` is the
    lifecycle change of the whole dataset (OVERWRITE, CREATE, DROP, RENAME, TRUNCATE, ALTER), `previous` the name
    before a RENAME. `symlink` is the table's name in its catalog.
    """

    dataset: Dataset
    columns: tuple[str, ...] = ()
    symlink: Dataset | None = None
    change: str = ""
    previous: Dataset | None = None
    kind: str = ""
    """OpenLineage's dataset type where it is not a table: VIEW, MODEL."""
    table: str = ""
    """The table that a folder will be, by which its job is called."""
    is_unqualified: bool = False
    """The plan names no database: the dataset is that of the current one, which the job may have changed since."""


@dataclass(frozen=True)
class Query:
    """One query or command.

    `action` is Spark's name of what was called (`save`, `command`, `localCheckpoint`), `command` the class of the plan.
    `plan` is the query's plan, or for commands over several plans the command's. `rows` and `size` (bytes) are what was
    written, -1 if Spark has no count. `schema` are the query's columns with their types, as Spark writes them in JSON.
    `rdds` are the numbers of the RDDs that leaves are, by the expression id of their first attribute.
    """

    action: str
    command: str
    plan: Tree
    leaves: Mapping[int, Leaf] = field(default_factory=dict)
    expansions: Mapping[int, Any] = field(default_factory=dict)
    target: Target | None = None
    symlinks: tuple[tuple[Dataset, Dataset], ...] = ()
    rows: int = -1
    size: int = -1
    sql: str = ""
    schema: tuple[tuple[str, Any], ...] = ()
    rdds: Mapping[int, int] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The record as JSON."""
        return asdict(self)


def read_document(document: Mapping[str, Any]) -> Query:
    """The record of a JSON document that `Query.document` made."""
    target = document["target"]
    return Query(
        action=document["action"],
        command=document["command"],
        plan=document["plan"],
        leaves={int(number): _leaf(leaf) for number, leaf in document["leaves"].items()},
        expansions={int(number): trees for number, trees in document["expansions"].items()},
        target=_target(target) if target else None,
        symlinks=tuple((Dataset(*one), Dataset(*other)) for one, other in document["symlinks"]),
        rows=document["rows"],
        size=document["size"],
        sql=document["sql"],
        schema=tuple((str(name), type_) for name, type_ in document.get("schema", ())),
        rdds={int(number): rdd for number, rdd in document.get("rdds", {}).items()},
    )


def _leaf(value: Any) -> Leaf:
    return value if isinstance(value, str) else tuple(Dataset(*one) for one in value)


def _target(value: Mapping[str, Any]) -> Target:
    names = {key: Dataset(*value[key]) if value[key] else None for key in ("symlink", "previous")}
    return Target(
        Dataset(*value["dataset"]),
        tuple(value["columns"]),
        change=value["change"],
        kind=value["kind"],
        table=value.get("table", ""),
        is_unqualified=value.get("is_unqualified", False),
        **names,
    )
