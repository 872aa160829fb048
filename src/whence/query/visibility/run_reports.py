"""What runs reported, as one viewer may read it: measurements, and the last runs of jobs."""

from collections.abc import Iterable, Mapping, Sequence

from whence.model.graph import JobRun, MeasurementRow
from whence.query.visibility.visible_ids import VisibleIds


def find_visible_ids(ids: VisibleIds, wanted: Iterable[int]) -> Mapping[int, int]:
    """The ids among these that the viewer sees under their own names; real id → visible id, which are equal."""
    return {real: id_ for id_, real in ids.real(wanted).items() if ids.can_see(real)}


def show_measurements(
    ids: VisibleIds, visible: Mapping[int, int], found: Sequence[MeasurementRow]
) -> Sequence[MeasurementRow]:
    """Measurements without hidden fields; runs of hidden jobs as pseudonyms."""
    ids.meet_runs(row.run_id for row in found if row.run_id)
    return [
        row._replace(
            dataset_id=visible[row.dataset_id],
            run_id=ids.shown(row.run_id),
            values=tuple(one for one in row.values if not one[0] or ids.field(row.dataset_id, one[0]) == one[0]),
        )
        for row in found
    ]


def show_last_runs(ids: VisibleIds, job_ids: Iterable[int], at: int | None) -> Mapping[int, JobRun]:
    """The last runs of visible jobs; the jobs of runs that contain theirs as tokens, where they are hidden."""
    known = find_visible_ids(ids, job_ids)
    found, show = ids.graph.last_runs(known, at), ids.show_run
    return {
        id_: JobRun(show(one.run), *(None if row is None else show(row) for row in (one.parent, one.root)))
        for real, id_ in known.items()
        if (one := found.get(real))
    }
