"""The run in the metadata of a commit: a Delta version or an Iceberg snapshot then names the run that made it."""

from __future__ import annotations

from whence_client.process.parent import format_parent
from whence_client.runs.active import active_run, inherited_parent

RUN, RUN_ID = "openlineage.run", "openlineage.runId"


def commit_metadata() -> dict[str, str]:
    """What to put into a commit: the run around the calling code, else the run that started this process.

    `openlineage.run` is `namespace/job/runId`, `openlineage.runId` the id alone. Empty outside of any run.
    """
    run = active_run() or inherited_parent()
    return {RUN: format_parent(run), RUN_ID: run.run_id} if run else {}
