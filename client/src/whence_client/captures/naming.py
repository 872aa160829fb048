"""What `translate` may know beside its record: names of datasets and runs, and the run around all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whence_client.events.datasets import Dataset
from whence_client.events.ids import run_id
from whence_client.events.runs import RunRef
from whence_client.naming.files import PathLike, name_file
from whence_client.naming.jdbc import name_table_of_jdbc
from whence_client.naming.tables import name_table, name_table_of_url, name_topic


@dataclass(frozen=True)
class Naming:
    """`namespace` is that of jobs; `instance` is the source's address, without which its ids are not unique."""

    namespace: str
    instance: str = ""
    parent: RunRef | None = None
    folder: str = ""
    """The folder of relative paths; the working directory if empty."""

    def run(self, job: str, *ids: object) -> RunRef:
        """The run of a job by the source's own ids: the same ids are the same run, whoever captures it."""
        root = (self.parent.root or self.parent) if self.parent else None
        return RunRef(self.namespace, job, run_id(self.instance, *ids), root)

    def file(self, path: PathLike) -> Dataset:
        """The dataset at a path or URI."""
        return name_file(path, folder=self.folder or None)

    def table(self, system: str, parts: Sequence[str], **where: Any) -> Dataset:
        """The dataset of a table; `where` as in `name_table`."""
        return name_table(system, parts, **where)

    def table_of_url(self, url: str, table: str, *, schema: str = "") -> Dataset:
        """The dataset of a table of the database at a URL."""
        return name_table_of_url(url, table, schema=schema)

    def table_of_jdbc(self, url: str, table: str) -> Dataset | None:
        """The dataset of a table of the database behind a JDBC URL; None if its form is not known."""
        return name_table_of_jdbc(url, table)

    def topic(self, bootstrap: str, topic: str) -> Dataset:
        """The dataset of a Kafka topic."""
        return name_topic(bootstrap, topic)
