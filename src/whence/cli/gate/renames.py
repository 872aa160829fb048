"""The names of datasets in production, of what was made elsewhere: of a run in CI, of a dbt project's other target."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from whence.errors import ArtifactError
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, Node, parse_node

Rename = Callable[[DatasetName], DatasetName]


def renaming(renames: Sequence[str], option: str) -> Rename:
    """What `FROM=TO` texts of an option do to a name, the first of them that concerns it. Raises ArtifactError.

    Each is a namespace and the beginning of a name, as in `file:/tmp/ci=s3://lake:shop`.
    """
    pairs = [_pair(one, option) for one in renames]

    def rename(name: DatasetName) -> DatasetName:
        for old, new in pairs:
            rest = name.name.removeprefix(old.name)
            is_below = name.name.startswith(old.name) and (not rest or rest[0] in "/." or old.name.endswith("/"))
            if name.namespace == old.namespace and is_below:
                return DatasetName(new.namespace, f"{new.name}{rest}")
        return name

    return rename


def _pair(text: str, option: str) -> tuple[DatasetName, DatasetName]:
    names = [parse_node(f"dataset:{one}") for one in text.split("=")]
    match names:
        case [DatasetName() as old, DatasetName() as new]:
            return old, new
    raise ArtifactError(option, f"write FROM=TO, each as namespace:name, not {text!r}")


def renamed_edge(edge: Edge, rename: Rename) -> Edge:
    """An edge between nodes of renamed datasets."""
    return replace(edge, source=renamed_node(edge.source, rename), target=renamed_node(edge.target, rename))


def renamed_node(node: Node, rename: Rename) -> Node:
    """The node of a renamed dataset. A job keeps its name."""
    match node:
        case FieldName(dataset, name):
            return FieldName(rename(dataset), name)
        case DatasetName():
            return rename(node)
    return node
