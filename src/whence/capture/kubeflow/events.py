"""A run of a pipeline as events: the run itself, and below it a run of each task, with artifacts as datasets."""

from collections.abc import Iterator, Mapping

from whence.capture.kubeflow.artifacts import metrics_of, name_artifacts, numbers_in
from whence.capture.kubeflow.records import Execution, RunRecord, Unread
from whence.capture.members import text_at
from whence.model.lineage import Edge
from whence.model.names import DatasetName
from whence.openlineage.json.wire import Json
from whence.openlineage.write import dataset_lineage
from whence_client.captures import Naming
from whence_client.events.datasets import Dataset
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.events.runs import (
    COMPLETE,
    FAIL,
    RUNNING,
    START,
    RunRef,
    dataset_event,
    error_facet,
    extraction_error_facet,
    job_type_facet,
    run_event,
)


def record_events(record: RunRecord | Unread, naming: Naming) -> Iterator[Json]:
    """The events of a run, or one that says which files are not read."""
    if isinstance(record, Unread):
        return iter((_unread_event(record, naming),))
    return _run_events(record, naming)


def _unread_event(record: Unread, naming: Naming) -> Json:
    run = naming.run(f"kubeflow.{naming.instance}", "pipelines", record.digest)
    job = {"jobType": job_type_facet("READING", "KUBEFLOW")}
    flaws = {name: f"{name}: {reason}" for name, reason in record.flaws.items()}
    return run_event(COMPLETE, run, record.at, parent=naming.parent, run_facets=_gap_facets(flaws), job_facets=job)


def _run_events(record: RunRecord, naming: Naming) -> Iterator[Json]:
    """The events of a run. When a task began is not known: it has its end only."""
    run = naming.run(record.name, record.run)
    facets, job = _run_facets(record), _pipeline_facets(record)
    yield run_event(START, run, record.started, parent=naming.parent, run_facets=facets, job_facets=job)
    failed = {"errorMessage": error_facet(record.failure)} if record.failure else {}
    yield run_event(
        record.state, run, record.ended, parent=naming.parent, run_facets={**facets, **failed}, job_facets=job
    )
    for one in record.executions:
        if not one.is_cached and not (one.is_unfinished and record.state == RUNNING):
            yield from _task_events(one, record, run, naming)


def _task_events(execution: Execution, record: RunRecord, parent: RunRef, naming: Naming) -> Iterator[Json]:
    """The end of a task, and of artifacts that only this run has their sources: the next run does not end these."""
    task, gaps = execution.task, dict(execution.gaps)
    found = naming.run(f"{record.name}.{task.job}", record.run, task.job, *execution.iteration)
    run = RunRef(found.namespace, found.job, found.run_id, parent.root or parent)
    read, made = (name_artifacts(one, naming, gaps) for one in (execution.inputs, execution.outputs))
    failed = {"errorMessage": error_facet("it began and left no outputs")} if execution.is_unfinished else {}
    yield run_event(
        FAIL if execution.is_unfinished else COMPLETE,
        run,
        execution.at,
        parent=parent,
        run_facets={**_task_facets(execution), **_gap_facets(gaps), **failed},
        job_facets=_component_facets(execution),
        inputs=made if task.importer else read,
        outputs=() if task.importer else made,
    )
    for one in () if task.importer else made:
        if read and f"/{record.run}/" in one.name:
            edges = [Edge(source=DatasetName(*source.key), target=DatasetName(*one.key)) for source in read]
            yield dataset_event(Dataset(*one.key, facets={"lineage": dataset_lineage(edges)}), execution.at)


def _run_facets(record: RunRecord) -> dict[str, Facet]:
    pipeline, cached = record.pipeline, [one for one in record.executions if one.is_cached]
    members: Json = {
        "run": record.run,
        "sdk": pipeline.sdk if pipeline else "",
        "file": pipeline.file if pipeline else "",
        "cachedTasks": [one.task.job for one in cached],
    }
    own = own_facet("KubeflowRunFacet", **{name: one for name, one in members.items() if one})
    unknown = {one.task.job: f"{one.task.job}: {one.gaps['outputs']}" for one in cached if "outputs" in one.gaps}
    return {"whence_kubeflowRun": own, **_gap_facets({**record.gaps, **unknown})}


def _pipeline_facets(record: RunRecord) -> dict[str, Facet]:
    text = record.pipeline.description if record.pipeline else ""
    documented = {"documentation": facet("DocumentationJobFacet", description=text)} if text else {}
    return {**documented, "jobType": job_type_facet("PIPELINE", "KUBEFLOW")}


def _task_facets(execution: Execution) -> dict[str, Facet]:
    metrics = [{"key": key, "value": value} for key, value in numbers_in(dict(execution.numbers)).items()]
    metrics += metrics_of(execution.outputs)
    members: Json = {"title": execution.task.title, "iteration": list(execution.iteration)}
    own = own_facet("KubeflowTaskFacet", **{name: one for name, one in members.items() if one})
    measured = {"whence_metrics": own_facet("MetricsRunFacet", metrics=metrics)} if metrics else {}
    return {"whence_kubeflowTask": own, **measured}


def _component_facets(execution: Execution) -> dict[str, Facet]:
    """The facets of the job: its image, and what kind of task it is."""
    container = execution.task.executor.get("container")
    image = text_at(container, "image") if isinstance(container, dict) else ""
    own = {"whence_kubeflowComponent": own_facet("KubeflowComponentFacet", image=image)} if image else {}
    return {**own, "jobType": job_type_facet("IMPORTER" if execution.task.importer else "TASK", "KUBEFLOW")}


def _gap_facets(gaps: Mapping[str, str]) -> dict[str, Facet]:
    return {"extractionError": extraction_error_facet(gaps)} if gaps else {}
