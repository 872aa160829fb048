"""What a server knows of the datasets whose tags a system has."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.client.acts.tagged_datasets import TaggedDataset, read_tagged_dataset, read_tagged_datasets
from whence.client.connection import Connection
from whence.client.profiles import choose_server
from whence.errors import ArtifactError, QuestionError
from whence.govern.tags.known import KnownDataset, KnownLabel, KnownTag
from whence.model.names import DatasetName
from whence.model.sensitivity import Grade

_LARGEST = 1 << 30


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A connection to a server with the key for it. Raises ProfileError, ApiError."""
    server = choose_server(url)
    connection = Connection(server.url, server.key)
    try:
        yield connection
    finally:
        connection.close()


def read_known(connection: Connection, namespace: str) -> list[KnownDataset]:
    """The datasets of a namespace that the key may see. Raises ApiError, QuestionError if there are none."""
    found = [_known(one) for one in read_tagged_datasets(connection, namespace)]
    if not found:
        raise QuestionError("namespace", f"{namespace!r} has no dataset that you may see; `whence search` shows names")
    return found


def read_known_dataset(connection: Connection, name: DatasetName) -> KnownDataset:
    """One dataset. Raises ApiError, NodeNotFoundError."""
    return _known(read_tagged_dataset(connection, name.namespace, name.name))


def read_export_text(file: Path) -> str:
    """The text of an export. Raises ArtifactError."""
    try:
        if file.stat().st_size > _LARGEST:
            raise ArtifactError(str(file), "is larger than 1 GiB: export one database at a time")
        return file.read_text("utf-8-sig")
    except OSError as error:
        raise ArtifactError(str(file), error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise ArtifactError(str(file), "is not UTF-8") from None


def _known(one: TaggedDataset) -> KnownDataset:
    labels = [
        KnownLabel(
            column=label.column,
            category=category,
            grade=Grade[label.grade.upper()],
            possible=Grade[label.possible.upper()],
        )
        for category, several in one.labels.items()
        for label in several
    ]
    columns = {*(field.name for field in one.fields), *one.columns}
    return KnownDataset(
        name=DatasetName(one.namespace, one.name),
        columns=frozenset(columns),
        is_view="VIEW" in one.types,
        tags=tuple(KnownTag(key=tag.key, value=tag.value, field=tag.field, source=tag.source) for tag in one.tags),
        labels=tuple(sorted(labels)),
    )
