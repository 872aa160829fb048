"""The versions of a table as people see them: the run of each, and whether it failed after it had made the version."""

from cli.answers.test_changes_lines import WHOLE
from whence.cli.containment.versions import version_lines
from whence.client.answers.history import DatasetVersions
from whence.client.values.timeline import DatasetVersion

JOB = "job:prod.etl:load orders"


def version(name: str, *, run: str | None = None, state: str | None = None, new: bool = True) -> DatasetVersion:
    return DatasetVersion(
        version=name,
        time=f"2026-11-30T06:0{name}:28.000000Z",
        run=run,
        job=JOB if run else None,
        run_state=state,
        operation="WRITE" if new else "OPTIMIZE",
        has_new_data=new,
        rows=2 if new else None,
        before="",
        user="",
        engine="",
        lost=0,
    )


def test_a_line_has_the_run_of_a_version_and_how_it_ended() -> None:
    found = DatasetVersions(
        node="dataset:file:/lake/orders",
        completeness=WHOLE,
        versions=(
            version("3", new=False),
            version("2", run=f"run:{'c' * 32}", state="ABORT"),
            version("1", run=f"run:{'b' * 32}", state="FAIL"),
            version("0", run=f"run:{'a' * 32}", state="COMPLETE"),
        ),
    )
    assert [str(one) for one in version_lines(found, "0", limit=20)] == [
        "orders  versions",
        "  3  2026-11-30T06:03:28  OPTIMIZE  no new data  run not known",
        "  2  2026-11-30T06:02:28  WRITE  2 rows  load orders · run cccccccc  its run was aborted",
        "  1  2026-11-30T06:01:28  WRITE  2 rows  load orders · run bbbbbbbb  its run failed",
        "  0  2026-11-30T06:00:28  WRITE  2 rows  load orders · run aaaaaaaa  ← roll back to this",
    ]
