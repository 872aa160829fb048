"""A run of MLflow as events: start and end, its data, its models, and what it was run with and measured."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from whence.capture.mlflow.datasets import read_inputs
from whence.capture.mlflow.models import INFLUENCE, declare_training, describe_model, name_model, read_signature
from whence.capture.mlflow.records import RunRecord, members
from whence.openlineage.json.wire import Json
from whence_client.captures import Naming
from whence_client.events.columns import INDIRECT, OPAQUE_FUNCTION, ColumnEdge, column_facets
from whence_client.events.datasets import Column, Dataset, Field
from whence_client.events.facets import Facet, facet, own_facet
from whence_client.events.runs import ABORT, COMPLETE, FAIL, START, RunRef, job_type_facet, run_event
from whence_client.process.commit import Commit, code_facets, web_address
from whence_client.process.parent import parse_parent

PARENT, ROOT = "whence.parent", "whence.root"
"""The tags of a run with the run of Whence around it, which the run context provider of whence-client sets."""

_STATES = {"FINISHED": COMPLETE, "FAILED": FAIL, "KILLED": ABORT}
_NO_TRAINING = frozenset(("eval", "evaluation", "test", "testing", "scoring", "inference", "prediction", "predictions"))
"""Contexts of data that a model does not learn from. It does from validation data: that may end the training early."""
_DOUBT = 0.5
"""The confidence that a column that is no feature was learned from: MLflow keeps no name of the label."""


def run_events(record: RunRecord, naming: Naming, warehouse: str = "") -> Iterator[Json]:
    """The events of a run, and for each model that it made the event that declares what the model was made from."""
    info, tags = record.run["info"], members(record.run.get("data", {}).get("tags"))
    run = _run(record, naming)
    common: dict[str, Any] = {
        "parent": _parent(record, tags, naming),
        "job_facets": {"jobType": job_type_facet("EXPERIMENT", "MLFLOW"), **_code(tags)},
    }
    yield run_event(START, run, _time(info["start_time"]), **common)
    state = _STATES.get(info["status"])
    if state is None or not info.get("end_time"):
        return
    ended = _time(info["end_time"])
    data = tuple(read_inputs(record.run, naming, warehouse))
    learned = _unite(one for context, one in data if context.lower() not in _NO_TRAINING)
    models = tuple(_outputs(record, naming))
    yield run_event(
        state,
        run,
        ended,
        **common,
        run_facets={**_facets(record), **_values(record.run.get("data", {}))},
        inputs=[*_unite(one for _, one in data), *_read_models(record, naming)],
        outputs=[_with_columns(model, features, learned) for model, features in models],
    )
    for model, features in models:
        if learned and state == COMPLETE:
            yield declare_training(model, [one for edge in _influences(features, learned) for one in edge], ended)


def _run(record: RunRecord, naming: Naming) -> RunRef:
    return naming.run(record.experiment, record.run["info"]["run_id"])


def _parent(record: RunRecord, tags: dict[str, str], naming: Naming) -> RunRef | None:
    """The parent run in MLflow, else the run of Whence that it was started in, else that of the poll's environment."""
    above = parse_parent(tags.get(PARENT, ""))
    root = parse_parent(tags.get(ROOT, "")) or above
    if record.parent_experiment and tags.get("mlflow.parentRunId"):
        return replace(naming.run(record.parent_experiment, tags["mlflow.parentRunId"]), root=root)
    return replace(above, root=root) if above is not None else None


def _code(tags: dict[str, str]) -> dict[str, Facet]:
    path, sha = (
        tags.get("mlflow.source.name", ""),
        tags.get("whence.commit") or tags.get("mlflow.source.git.commit", ""),
    )
    if not path:
        return {}
    folder = PurePath(path).parent
    prefix = "" if folder.is_absolute() or folder == PurePath() else f"{folder.as_posix()}/"
    repository = tags.get("whence.repository") or web_address(tags.get("mlflow.source.git.repoURL", ""))
    branch = tags.get("whence.branch") or tags.get("mlflow.source.git.branch", "")
    dirty = {"True": True, "False": False}.get(tags.get("whence.dirty") or tags.get("mlflow.source.git.dirty", ""))
    commit = Commit(sha, repository, branch, tags.get("whence.prefix", "") + prefix, dirty=dirty)
    return code_facets(PurePath(path).name, 0, commit if sha else None)


def _facets(record: RunRecord) -> dict[str, Facet]:
    """What the run is in MLflow. Its user is MLflow's own word, which nobody checks."""
    info, tags = record.run["info"], members(record.run.get("data", {}).get("tags"))
    known = {
        "runId": info["run_id"],
        "runName": info.get("run_name", ""),
        "experimentId": info.get("experiment_id", ""),
        "user": tags.get("mlflow.user") or info.get("user_id", ""),
        "status": info["status"],
        "lifecycleStage": info.get("lifecycle_stage", ""),
    }
    own = {key: value for key, value in sorted(tags.items()) if not key.startswith(("mlflow.", "whence."))}
    listed = [{"key": key, "value": value, "source": "MLFLOW"} for key, value in own.items()]
    tagged = {"tags": facet("TagsRunFacet", tags=listed)} if listed else {}
    return {"whence_mlflowRun": own_facet("MlflowRunFacet", **known), **tagged}


def _values(data: Json) -> dict[str, Facet]:
    """Parameters and metrics, the last value of each. A metric that is no number is a text, as MLflow has it."""
    facets: dict[str, Facet] = {}
    if data.get("params"):
        listed = [{"key": key, "name": key, "value": value} for key, value in members(data["params"]).items()]
        facets["executionParameters"] = facet("ExecutionParametersRunFacet", parameters=listed)
    if data.get("metrics"):
        metrics = [{name: one.get(name) for name in ("key", "value", "step")} for one in data["metrics"]]
        facets["whence_metrics"] = own_facet("MetricsRunFacet", metrics=metrics)
    return facets


def _read_models(record: RunRecord, naming: Naming) -> Iterator[Dataset]:
    for entry in record.run.get("inputs", {}).get("model_inputs") or ():
        yield name_model(naming, str(entry.get("model_id")))


def _outputs(record: RunRecord, naming: Naming) -> Iterator[tuple[Dataset, tuple[Field, ...]]]:
    """The models that the run logged, with their features."""
    for model_id in dict.fromkeys(
        str(one["model_id"]) for one in record.run.get("outputs", {}).get("model_outputs") or ()
    ):
        info = record.models.get(model_id, {}).get("info", {})
        features = read_signature(record.signatures.get(model_id, {}))
        known = {
            "name": info.get("name", ""),
            "modelType": info.get("model_type", ""),
            "status": info.get("status", ""),
        }
        facets = {"whence_mlflowModel": own_facet("MlflowModelDatasetFacet", **known)}
        yield describe_model(name_model(naming, model_id), features, model_id, facets), features


def _unite(datasets: Iterable[Dataset]) -> tuple[Dataset, ...]:
    """Each dataset once, though a run logs it with several contexts; the first one counts."""
    found: dict[tuple[str, str], Dataset] = {}
    for one in datasets:
        found.setdefault(one.key, one)
    return tuple(found.values())


def _influences(features: Iterable[Field], learned: Iterable[Dataset]) -> Iterator[tuple[Column | Dataset, ...]]:
    """The columns of each dataset that a model learned from; the dataset itself if its columns are not known."""
    for dataset in learned:
        fields = [one.name for one in dataset.schema_fields if isinstance(one, Field)]
        yield tuple(dataset[name] for name in fields) if fields else (dataset,)


def _with_columns(model: Dataset, features: tuple[Field, ...], learned: Iterable[Dataset]) -> Dataset:
    """The model with the columns that decide it: surely those named as features, and among the others the label."""
    names = {one.name for one in features}
    edges = [
        ColumnEdge(
            column,
            None,
            INDIRECT,
            INFLUENCE,
            confidence=1.0 if column.field in names else _DOUBT,
            reason="" if column.field in names else OPAQUE_FUNCTION,
        )
        for columns in _influences(features, learned)
        for column in columns
        if isinstance(column, Column)
    ]
    unexplained = {} if edges else {one.name: OPAQUE_FUNCTION for one in features}
    return replace(model, facets={**model.facets, **column_facets(edges, method="declared", unexplained=unexplained)})


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
