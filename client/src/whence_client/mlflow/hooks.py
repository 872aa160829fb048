"""Models of MLflow in the job's process: which columns one was fitted on, and what it predicted.

A model that is logged is the dataset `models/m-…` of its tracking server, as `whence capture run mlflow` names it.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Callable

from whence_client.captures.contract import ATTACH, Findings, Undo, Versions, check_package
from whence_client.captures.naming import Naming
from whence_client.captures.patches import Patches, hook_once
from whence_client.captures.session import Session
from whence_client.events.datasets import Dataset as EventDataset
from whence_client.events.facets import Event
from whence_client.frames.frames import FrameLineage
from whence_client.frames.memory import memory_of
from whence_client.frames.writes import FrameWrite, write_event
from whence_client.lineage.columns import (
    CONDITIONAL,
    OPAQUE_FUNCTION,
    Column,
    Dataset,
    add_reason,
    decide,
    read_column,
    transform,
)
from whence_client.naming import name_tracking_server
from whence_client.sklearn.estimators import estimators_of


@dataclass(frozen=True)
class _Loaded:
    """A model that was loaded: its dataset, its registered version if it was loaded by that, and its features."""

    model: weakref.ref[Any]
    dataset: Dataset
    version: Dataset | None
    features: tuple[str, ...]

    def influences(self) -> list[Column]:
        """The columns of the registered version, which decide on each prediction."""
        return [read_column(self.version, name) for name in self.features] if self.version else []


LOGGING, PYFUNC, SKLEARN = "mlflow.models.model", "mlflow.pyfunc", "mlflow.sklearn"
"""The modules that are hooked, each when it is imported: MLflow imports most of them late."""


class MlflowCapture:
    """Lineage of models that MLflow logs and loads. Scikit-learn's are exact, others are known by their signature.

    `name` is the module that is hooked.
    """

    kind = ATTACH
    versions = Versions("3.17.2", "3.17.2")

    def __init__(self, module: str) -> None:
        self.name = module

    def check(self) -> Findings:
        """Whether MLflow is there, and of a release that is known."""
        return check_package("mlflow", self.versions)

    def translate(self, record: FrameWrite, naming: Naming) -> Iterable[Event]:
        """The event of one model that was logged."""
        return (write_event(record, naming),)

    def install(self, session: Session) -> Undo:
        """Hook the module, which the job has imported."""
        return hook_once(sys.modules[self.name], lambda: _Hooks(self.name, session).install())


class _Hooks:
    """The hooks of one module in one process."""

    def __init__(self, module: str, session: Session) -> None:
        self._module, self._session, self._guard = module, session, session.guard("mlflow")
        self._patches = Patches(self._guard)
        self._memory = memory_of(session)
        self._loaded: dict[int, _Loaded] = {}
        self._resolved = threading.local()

    def install(self) -> Undo:
        """Put the hooks in place."""
        module = sys.modules[self._module]
        if self._module == LOGGING:
            self._outermost(module.Model, "log", self._on_log)
        elif self._module == SKLEARN:
            self._outermost(module, "load_model", self._on_sklearn_load)
        else:
            registry = sys.modules["mlflow.tracking._model_registry.client"]
            self._patches.observe(registry.ModelRegistryClient, "get_model_version_by_alias", self._on_alias)
            self._outermost(module, "load_model", self._on_load)
            self._outermost(module.PyFuncModel, "predict", self._on_predict)
        return self._patches.undo

    def _outermost(self, owner: Any, name: str, observer: Callable[..., None]) -> None:
        """Observe a call, but nothing that it calls: MLflow copies frames, pickles models, and predicts examples."""
        self._patches.observe_outermost(owner, name, observer, self._memory.calls)

    def _server(self) -> str:
        return name_tracking_server(str(sys.modules["mlflow"].get_tracking_uri()))

    def _on_log(self, info: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        estimators, model_id = estimators_of(self._session), getattr(info, "model_id", None)
        if estimators is not None and model_id and "sk_model" in named:
            estimators.save_as(named["sk_model"], EventDataset(self._server(), f"models/{model_id}"))

    def _on_alias(self, version: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._resolved.version = (str(version.name), str(version.version))

    def _on_load(self, model: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        uri = str(args[0] if args else named.get("model_uri", ""))
        model_id = getattr(model, "model_id", None)
        if not model_id:
            return
        dataset = Dataset(self._server(), f"models/{model_id}")
        key, features = id(model), _features_of(model)

        def forget(reference: weakref.ref[Any]) -> None:
            if key in self._loaded and self._loaded[key].model is reference:
                del self._loaded[key]

        self._loaded[key] = _Loaded(weakref.ref(model, forget), dataset, self._version(uri), features)
        estimators, estimator = estimators_of(self._session), _estimator_of(model)
        if estimators is not None and estimator is not None:
            estimators.load_as(estimator, EventDataset(*dataset))

    def _on_sklearn_load(self, estimator: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A model was loaded as scikit-learn's own. Only its URI names it, so an alias names none."""
        uri = str(args[0] if args else named.get("model_uri", ""))
        logged = Dataset(self._server(), f"models/{uri[len('models:/') :]}") if uri.startswith("models:/m-") else None
        dataset, estimators = logged or self._version(uri), estimators_of(self._session)
        if estimators is not None and dataset is not None:
            estimators.load_as(estimator, EventDataset(*dataset))

    def _version(self, uri: str) -> Dataset | None:
        """The registered version that a URI names by number or alias; None for a logged model, a run or a folder."""
        name, _, number = uri[len("models:/") :].partition("/")
        name, at, _ = name.partition("@")
        resolved, version = getattr(self._resolved, "version", ("", ""))
        number = version if at and resolved == name else number
        is_version = uri.startswith("models:/") and number.isdigit()
        return Dataset(self._server(), f"models/{name}/{number}") if is_version else None

    def _on_predict(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        model, data = args[0], args[1] if len(args) > 1 else named.get("data")
        loaded = self._loaded.get(id(model))
        if loaded is None or loaded.model() is not model:
            return
        estimators, estimator = estimators_of(self._session), _estimator_of(model)
        if estimators is not None and estimator is not None:
            estimators.on_output(estimator, False, (data,), {}, result)
        else:
            self._remember_by_signature(loaded, data, result)
        found = self._memory.find(result)
        if found is not None:
            columns = {name: decide(one, loaded.influences(), CONDITIONAL) for name, one in found.columns.items()}
            inputs = found.inputs | ({loaded.version} if loaded.version else set())
            self._memory.remember(result, FrameLineage(columns, found.rows, inputs))

    def _remember_by_signature(self, loaded: _Loaded, data: Any, result: Any) -> None:
        """Each prediction comes from all features, and the model decides it: nobody can look into the model."""
        source = self._memory.find(data)
        labels = _labels_of(result)
        if source is None or not labels:
            return
        names = [name for name in loaded.features if name in source.columns] or list(source.columns)
        value = transform(source.columns[name] for name in names)
        value = decide(value, [read_column(loaded.dataset, name) for name in loaded.features], CONDITIONAL)
        value = add_reason(value, OPAQUE_FUNCTION)
        columns = dict.fromkeys(labels, value)
        self._memory.remember(result, FrameLineage(columns, source.rows, source.inputs | {loaded.dataset}))


def _features_of(model: Any) -> tuple[str, ...]:
    """The columns of a loaded model's signature; none without one, or of tensors."""
    schema = model.metadata.get_input_schema()
    return tuple(str(one) for one in schema.input_names()) if schema and schema.has_input_names() else ()


def _estimator_of(model: Any) -> Any:
    """The estimator of scikit-learn in a loaded model; None in one of another library."""
    return getattr(getattr(model, "_model_impl", None), "sklearn_model", None)


def _labels_of(result: Any) -> list[Any]:
    """The columns of what was predicted: of a frame, a series or an array."""
    if hasattr(result, "columns"):
        return list(result.columns)
    shape: tuple[int, ...] = getattr(result, "shape", ())
    if len(shape) == 1:
        return [getattr(result, "name", 0)]
    return list(range(shape[1])) if len(shape) == 2 else []


logging_capture, pyfunc_capture, sklearn_capture = (MlflowCapture(one) for one in (LOGGING, PYFUNC, SKLEARN))
