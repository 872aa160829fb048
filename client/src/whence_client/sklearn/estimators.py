"""Estimators in memory: what each was fitted on, where it is saved, and the lineage of what it returns."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from whence_client.captures.session import Session
from whence_client.events.datasets import Dataset as EventDataset
from whence_client.events.facets import facet
from whence_client.frames.frames import FrameLineage, unknown_frame
from whence_client.frames.memory import memory_of
from whence_client.frames.writes import FrameWrite, describe_write, script_name
from whence_client.lineage.columns import (
    LEFT_THE_ENGINE,
    NOT_CAPTURED,
    Column,
    Dataset,
    add_reason,
    merge,
    transform,
    unknown,
)
from whence_client.lineage.rows import Rows
from whence_client.sklearn.models import Model, Training, weighed
from whence_client.sklearn.signatures import predictor_of, read_signature
from whence_client.sklearn.steps import UnreadableStepError, reversed_wires_of, wires_of

_NESTED = 3
"""How deep models are looked for in what is saved: `{"model": pipeline, "columns": [...]}`."""


@dataclass
class _Known:
    """The lineage of an estimator object. `saved`: the dataset of the file that holds it."""

    estimator: weakref.ref[Any]
    training: Training | None = None
    saved: Dataset | None = None
    model: Model | None = None


class Estimators:
    """The estimators of one session. `emit_write` takes the record of each model that is written."""

    def __init__(self, session: Session, emit_write: Callable[[FrameWrite], None]) -> None:
        self._session, self._emit_write = session, emit_write
        self._memory = memory_of(session)
        self._known: dict[int, _Known] = {}
        self._names: dict[str, int] = {}
        _of_sessions[id(session)] = self

    def on_fit(self, estimator: Any, args: tuple[Any, ...], named: dict[str, Any], *, goes_on: bool) -> None:
        """An estimator was fitted. With `goes_on` it keeps what it had learned."""
        data = _given(args, named)
        target = args[1] if len(args) > 1 else named.get("y") if "X" in named or args else None
        training = self._training(estimator, data, target, named.get("sample_weight"))
        before = self._find(estimator)
        if (goes_on or getattr(estimator, "warm_start", False)) and before and before.training:
            training = training.and_earlier(before.training)
        self._keep(estimator, training)
        best = getattr(estimator, "best_estimator_", None)
        if best is not None:
            self._keep(best, training)

    def on_output(
        self, estimator: Any, is_transform: bool, args: tuple[Any, ...], named: dict[str, Any], result: Any
    ) -> None:
        """An estimator returned features or predictions."""
        labels = _labels_of(result)
        if labels is None:
            return
        data = _given(args, named)
        source = self._lineage_of(data)
        inputs = self._inputs(estimator, data, source)
        columns = self._outputs(estimator, inputs, len(labels), is_transform)
        rows, read = (source.rows, source.inputs) if source else (Rows(reasons=frozenset((LEFT_THE_ENGINE,))), None)
        self._remember(result, FrameLineage(dict(zip(labels, columns)), rows, read or frozenset()))

    def on_inverse(self, estimator: Any, args: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
        """Values came back from what they were scaled or encoded to."""
        source, labels = self._lineage_of(_given(args, named)), _labels_of(result)
        if source is None or labels is None or len(labels) != len(source.columns):
            return
        wires = reversed_wires_of(estimator, len(labels))
        known = self._find(estimator)
        if wires is not None and known is not None:
            inputs = list(source.columns.values())
            columns = self._model(estimator, known, len(labels), len(labels)).transform(inputs, wires)
            self._remember(result, FrameLineage(dict(zip(labels, columns)), source.rows, source.inputs))

    def on_save(self, value: Any, path: Any) -> None:
        """Models were written to a file: the file is the dataset of all of them."""
        self.save_as(value, self._session.naming().file(path))

    def save_as(self, value: Any, target: EventDataset) -> None:
        """Models were written to a dataset: a file, or a model of a registry."""
        found = [(one, self._find(one) or self._keep(one, None)) for one in _estimators_in(value)]
        models = [self._model(one, known) for one, known in found]
        for (_, known), model in zip(found, models):
            known.saved = model.dataset = Dataset(*target.key)
        if models:
            self._emit(target, models)

    def on_load(self, value: Any, path: Any) -> None:
        """Models were read from a file."""
        self.load_as(value, self._session.naming().file(path))

    def load_as(self, value: Any, source: EventDataset) -> None:
        """Models were read from a dataset."""
        for one in _estimators_in(value):
            self._keep(one, None).saved = Dataset(*source.key)

    def _training(self, estimator: Any, data: Any, target: Any, weights: Any) -> Training:
        found = self._lineage_of(data)
        features = tuple(self._inputs(estimator, data, found))
        source = found or unknown_frame((), LEFT_THE_ENGINE)
        column = self._column_of(target) if target is not None else None
        weight = self._column_of(weights) if weights is not None else None
        return Training(features, column, weighed(source.rows, weight), source.inputs)

    def _column_of(self, values: Any) -> Column:
        found = self._lineage_of(values)
        return merge(found.columns.values()) if found is not None else unknown(LEFT_THE_ENGINE)

    def _lineage_of(self, data: Any) -> FrameLineage | None:
        found = self._memory.find(data)
        if found is None and type(data).__module__.startswith("polars"):
            found = self._memory.find_by_buffers(getattr(data, "get_columns", lambda: [data]))
        return found

    def _inputs(self, estimator: Any, data: Any, lineage: FrameLineage | None) -> Sequence[Column]:
        """The columns of data in the order in which the estimator knows them."""
        width = getattr(estimator, "n_features_in_", None)
        if lineage is None:
            return [unknown(LEFT_THE_ENGINE)] * (width or len(_labels_of(data) or (0,)))
        names = getattr(estimator, "feature_names_in_", None)
        if names is not None and hasattr(data, "columns"):
            return [lineage.columns.get(name) or unknown(NOT_CAPTURED) for name in names]
        found = list(lineage.columns.values())
        return found if width in (None, len(found)) else [merge([*found, unknown(NOT_CAPTURED)])] * width

    def _outputs(self, estimator: Any, inputs: Sequence[Column], width: int, is_transform: bool) -> Sequence[Column]:
        known = self._find(estimator) or self._keep(estimator, None)
        try:
            model = self._model(estimator, known, len(inputs), width if is_transform else None)
            if not is_transform:
                return [model.predict(inputs)] * width
            wires = wires_of(estimator, len(inputs), width) if model.signature.is_predictor else None
            return model.transform(inputs, wires)
        except UnreadableStepError:
            return [add_reason(transform(inputs), NOT_CAPTURED)] * width

    def _model(self, estimator: Any, known: _Known, inputs: int = 0, outputs: int | None = None) -> Model:
        """The model that an estimator is. `inputs` and `outputs` count columns, 0 and None where nobody knows them."""
        if known.model is not None:
            return known.model
        inputs = len(known.training.features) if known.training else getattr(estimator, "n_features_in_", inputs)
        name = type(predictor_of(estimator)).__name__
        signature = read_signature(estimator, inputs or 1, outputs)
        model = Model(signature, known.training, lambda made: self._name(made, name))
        model.dataset = known.saved
        known.model = model if inputs else None
        return model

    def _name(self, model: Model, kind: str) -> Dataset:
        """A model that no file has is a dataset of the job that fitted it."""
        naming = self._session.naming()
        name = f"{naming.parent.scope if naming.parent else script_name()}/{kind}"
        number = self._names[name] = self._names.get(name, 0) + 1
        model.dataset = Dataset(naming.namespace, name if number == 1 else f"{name}-{number}")
        self._emit(EventDataset(*model.dataset), [model])
        return model.dataset

    def _emit(self, target: EventDataset, models: Iterable[Model]) -> None:
        columns: dict[str, Column] = {}
        rows, inputs = Rows(), frozenset[Dataset]()
        for lineage in (model.lineage() for model in models):
            for name, column in lineage.columns.items():
                columns[name] = merge([columns[name], column]) if name in columns else column
            rows, inputs = rows | lineage.rows, inputs | lineage.inputs
        kind = facet("DatasetTypeDatasetFacet", datasetType="MODEL")
        dataset = EventDataset(*target.key, facets={"datasetType": kind})
        fields = ((name, "") for name in columns)
        self._emit_write(describe_write("sklearn", dataset, fields, FrameLineage(columns, rows, inputs)))

    def _find(self, estimator: Any) -> _Known | None:
        found = self._known.get(id(estimator))
        return found if found is not None and found.estimator() is estimator else None

    def _keep(self, estimator: Any, training: Training | None) -> _Known:
        key = id(estimator)

        def forget(reference: weakref.ref[Any]) -> None:
            found = self._known.get(key)
            if found is not None and found.estimator is reference:
                self._known.pop(key, None)

        known = self._known[key] = _Known(weakref.ref(estimator, forget), training)
        return known

    def _remember(self, result: Any, lineage: FrameLineage) -> None:
        self._memory.remember(result, lineage, getattr(result, "get_columns", None))


_of_sessions: weakref.WeakValueDictionary[int, Estimators] = weakref.WeakValueDictionary()


def estimators_of(session: Session) -> Estimators | None:
    """The estimators of a session, for other captures that save and load models; None without scikit-learn."""
    return _of_sessions.get(id(session))


def _given(args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The data that a method was called with."""
    return args[0] if args else next((named[one] for one in ("X", "raw_documents", "y") if one in named), None)


def _labels_of(data: Any) -> list[Any] | None:
    """The columns of a frame, series, array or sparse matrix; None for anything else."""
    if hasattr(data, "columns"):
        return list(data.columns)
    shape = getattr(data, "shape", None)
    if not isinstance(shape, tuple) or len(shape) not in (1, 2):
        return None
    if len(shape) == 2:
        return list(range(shape[1]))
    return [getattr(data, "name", 0)]


def _estimators_in(value: Any, depth: int = _NESTED) -> Iterator[Any]:
    """The fitted estimators in what is saved."""
    if hasattr(value, "get_params") and hasattr(value, "fit") and not isinstance(value, type):
        if _is_fitted(value):
            yield value
    elif depth and isinstance(value, (dict, list, tuple)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _estimators_in(one, depth - 1)


def _is_fitted(estimator: Any) -> bool:
    """Whether it has attributes that `fit` gives; a pipeline itself has none."""
    inner = (step for _, step in getattr(estimator, "steps", ()))
    return any(name.endswith("_") for name in getattr(estimator, "__dict__", ())) or any(map(_is_fitted, inner))
