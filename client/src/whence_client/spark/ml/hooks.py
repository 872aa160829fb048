"""The hooks of the capture around `fit`, `transform`, `save` and `load` of `pyspark.ml`.

In the job's thread they only take note of the objects; plans are read by the worker, after those of earlier queries.
"""

from __future__ import annotations

import importlib
import sys
import weakref
from typing import TYPE_CHECKING, Any, Callable

from whence_client.captures.imports import call_after_import
from whence_client.spark.capture.capture import now
from whence_client.spark.capture.reading import read_plan
from whence_client.spark.capture.scala import call, read_sequence
from whence_client.spark.capture.tables import name_path
from whence_client.spark.ml.models import Fitted
from whence_client.spark.plan.relations import read_relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whence_client.captures.patches import Patches
    from whence_client.lineage.columns import Dataset
    from whence_client.spark.capture.capture import SparkCapture

MODULE = "pyspark.ml"

_INPUTS = (
    *("featuresCol", "inputCol", "inputCols", "itemsCol", "sequenceCol", "userCol", "itemCol"),
    *("srcCol", "dstCol", "labelCol", "ratingCol", "weightCol", "censorCol", "offsetCol"),
)
"""The parameters that name columns which an estimator learns from."""

_OWN_EXPRESSIONS = frozenset(("SQLTransformer",))
"""Transformers whose columns are expressions of the user, functions of theirs among them."""


class ModelHooks:
    """The hooks on one Spark application."""

    def __init__(self, spark: Any, capture: SparkCapture) -> None:
        self._spark, self._capture = spark, capture
        self._fitted: weakref.WeakKeyDictionary[Any, Fitted] = weakref.WeakKeyDictionary()
        self._written: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def install(self, patches: Patches) -> Callable[[], None]:
        """Put the hooks on `pyspark.ml` now, or once the job imports it. Returns what stops waiting for that."""
        return call_after_import(MODULE, lambda: self._capture.guard.run("models", self._install, patches))

    def _install(self, patches: Patches) -> None:
        base, util = (importlib.import_module(f"{MODULE}.{one}") for one in ("base", "util"))
        patches.observe(base.Estimator, "fit", self._on_fit)
        patches.observe(base.Transformer, "transform", self._on_transform)
        patches.observe(util.JavaMLWriter, "__init__", self._on_writer)
        for writer in (util.MLWriter, util.JavaMLWriter):
            patches.replace(writer, "save", self._wrap_save)
        patches.observe(util.MLReadable, "load", self._on_load)
        patches.observe(util.JavaMLReader, "load", self._on_load)

    def _on_fit(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        estimator, dataset = args[0], args[1] if len(args) > 1 else named["dataset"]
        params = args[2] if len(args) > 2 else named.get("params")
        pairs = zip(result, params or ()) if isinstance(result, (list, tuple)) else ((result, params),)
        for model, changed in pairs:
            if list(_parts(model)) != [model] or not hasattr(dataset, "_jdf"):
                continue  # the parts of a pipeline were fitted one by one
            names = list(_input_columns(estimator, changed))
            fitted = self._fitted[model] = Fitted(tuple(names))
            self._submit_fit(fitted, dataset._jdf.queryExecution(), names)

    def _submit_fit(self, fitted: Fitted, execution: Any, names: Sequence[str]) -> None:
        def learn() -> None:
            query = read_plan("fit", "", execution.analyzed(), call(execution, "sparkSession"), None)
            relation = read_relation(query.plan, self._capture.context(query))
            self._capture.models.learn(fitted, relation, names)

        self._capture.submit("fit", learn)

    def _on_transform(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        transformer, dataset = args[0], args[1] if len(args) > 1 else named["dataset"]
        if list(_parts(transformer)) != [transformer] or not hasattr(dataset, "_jdf"):
            return  # each stage of a pipeline transforms on its own
        models = self._models_of(transformer)
        kind = type(transformer)
        is_exact = kind.__module__.startswith(f"{MODULE}.") and kind.__name__ not in _OWN_EXPRESSIONS
        before, after = dataset._jdf.queryExecution(), result._jdf.queryExecution()

        def note() -> None:
            numbers = _output_ids(after) - _output_ids(before)
            self._capture.models.note_columns(numbers, models, is_exact=is_exact)

        self._capture.submit("transform", note)

    def _models_of(self, transformer: Any) -> list[Fitted]:
        """The models in a transformer; empty if it has learned nothing."""
        learned = [part for part in _parts(transformer) if _is_model(part)]
        return [self._fitted.setdefault(one, Fitted(tuple(_input_columns(one, None)))) for one in learned]

    def _on_writer(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._written[args[0]] = args[1] if len(args) > 1 else named["instance"]

    def _wrap_save(self, original: Any) -> Any:
        def save(writer: Any, path: Any, *args: Any, **named: Any) -> Any:
            guard = self._capture.guard
            began = now()
            guard.run("save", self._begin_save, path)
            result = original(writer, path, *args, **named)
            guard.run("save", self._end_save, writer, path, began)
            return result

        save.__doc__ = original.__doc__
        return save

    def _begin_save(self, path: Any) -> None:
        self._capture.submit("save", lambda: self._capture.models.begin_save(self._folder(path)))

    def _end_save(self, writer: Any, path: Any, began: Any) -> None:
        instance = self._written.get(writer, getattr(writer, "instance", None))
        models, ended = self._models_of(instance) if instance is not None else [], now()

        def save() -> None:
            saved = self._capture.models.save(models, self._folder(path))
            if saved is not None:
                self._capture.emit_model(saved, began, ended)

        self._capture.submit("save", save)

    def _on_load(self, result: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        path = args[1] if len(args) > 1 else named["path"]
        models = self._models_of(result)

        def load() -> None:
            folder = self._folder(path)
            self._capture.models.begin_save(folder)
            for one in models:
                one.dataset = folder

        self._capture.submit("load", load)

    def _folder(self, path: Any) -> Dataset:
        """The dataset of a path, which may be relative or without a scheme."""
        context = self._spark.sparkContext
        hadoop = context._jvm.org.apache.hadoop.fs.Path(str(path))
        system = hadoop.getFileSystem(context._jsc.hadoopConfiguration())
        return name_path(str(system.makeQualified(hadoop).toString()))


def _parts(model: Any) -> Iterator[Any]:
    """The models that a pipeline or a search consists of; a model itself if it is neither."""
    stages = getattr(model, "stages", None)
    if isinstance(stages, (list, tuple)):
        for stage in stages:
            yield from _parts(stage)
    elif getattr(model, "bestModel", None) is not None:
        yield from _parts(model.bestModel)
    else:
        yield model


def _is_model(value: Any) -> bool:
    """Whether it is a fitted model, and not a transformer that learns nothing."""
    return isinstance(value, sys.modules[f"{MODULE}.base"].Model)


def _input_columns(params: Any, changed: Any) -> Iterator[str]:
    """The columns that an estimator or model takes. `changed`: the parameters of one call, by `Param`."""
    others = {param.name: value for param, value in changed.items()} if isinstance(changed, dict) else {}
    for name in _INPUTS:
        if not params.hasParam(name):
            continue
        param = params.getParam(name)
        value = others[name] if name in others else params.getOrDefault(param) if params.isDefined(param) else None
        if isinstance(value, str):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from map(str, value)


def _output_ids(execution: Any) -> set[int]:
    return {int(one.exprId().id()) for one in read_sequence(execution.analyzed().output())}
