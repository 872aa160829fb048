"""What a fitted model takes and gives: the features that its predictor sees, by name, and how they are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from whence_client.lineage.columns import OPAQUE_FUNCTION
from whence_client.sklearn.steps import is_of_sklearn, wires_of
from whence_client.sklearn.wires import Wire, join, same

TARGET = "target"
"""The field of a model that its training target flows into; with `_` behind it if a feature has this name."""

_WRAPPING = frozenset(("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"))
_PARALLEL = frozenset(("VotingClassifier", "VotingRegressor", "StackingClassifier", "StackingRegressor"))


@dataclass(frozen=True)
class Signature:
    """The fields of a model, each with its wire: a predictor's features, or a transformer's outputs.

    `target` is the name of the field for the target, empty for models without one. `reason`: why the predictor may use
    less than its features.
    """

    names: tuple[str, ...]
    wires: tuple[Wire, ...]
    is_predictor: bool
    target: str = ""
    reason: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all fields."""
        return (*self.names, *((self.target,) if self.target else ()))


def read_signature(model: Any, inputs: int, outputs: int | None = None) -> Signature:
    """The signature of a fitted model with this number of inputs. Raises UnreadableStepError."""
    if not hasattr(model, "predict"):
        wires = wires_of(model, inputs, outputs)
        return Signature(_names_of(model, _input_names(model, inputs), len(wires)), wires, is_predictor=False)
    names, wires, predictor = _split(model, inputs)
    used = sorted(_used_inputs(predictor, len(wires)))
    target = TARGET if _has_target(predictor) else ""
    while target in names:
        target += "_"
    reason = "" if is_of_sklearn(predictor) else OPAQUE_FUNCTION
    return Signature(tuple(names[one] for one in used), tuple(wires[one] for one in used), True, target, reason)


def predictor_of(model: Any) -> Any:
    """The innermost step that predicts, of pipelines and searches."""
    while True:
        inner = model.steps[-1][1] if _is_pipeline(model) else _unwrap(model)
        if inner is None or isinstance(inner, str):
            return model
        model = inner


def _split(model: Any, inputs: int) -> tuple[tuple[str, ...], tuple[Wire, ...], Any]:
    """The names and wires of what the predictor sees, and the predictor."""
    names, wires = _input_names(model, inputs), tuple(map(same, range(inputs)))
    while True:
        inner = _unwrap(model)
        if inner is not None:
            model = inner
        elif _is_pipeline(model) and hasattr(model.steps[-1][1], "predict"):
            steps = [one for _, one in model.steps if one is not None and one != "passthrough"]
            for step, following in zip(steps, steps[1:]):
                made = wires_of(step, len(wires), getattr(following, "n_features_in_", None))
                names, wires = _names_of(step, names, len(made)), join(made, wires)
            model = steps[-1]
        else:
            return names, wires, model


def _is_pipeline(model: Any) -> bool:
    return is_of_sklearn(model) and type(model).__name__ == "Pipeline"


def _unwrap(model: Any) -> Any:
    """The estimator that a search, a target's transformation or a calibration is around; None for others."""
    if not is_of_sklearn(model):
        return None
    name = type(model).__name__
    if name in _WRAPPING:
        return getattr(model, "best_estimator_", None)
    if name == "TransformedTargetRegressor":
        return model.regressor_
    if name == "CalibratedClassifierCV":
        return model.calibrated_classifiers_[0].estimator
    return model.estimator if name == "FrozenEstimator" else None


def _used_inputs(predictor: Any, inputs: int) -> frozenset[int]:
    """The inputs that estimators side by side use: each may begin with a choice of columns."""
    everything = frozenset(range(inputs))
    if not is_of_sklearn(predictor) or type(predictor).__name__ not in _PARALLEL:
        return everything
    if getattr(predictor, "passthrough", False):
        return everything
    return frozenset().union(*_inputs_of(predictor.estimators_, inputs))


def _inputs_of(estimators: Sequence[Any], inputs: int) -> Iterator[frozenset[int]]:
    for one in estimators:
        for wire in read_signature(one, inputs).wires:
            yield wire.values | wire.fitted | wire.chosen_by


def _has_target(predictor: Any) -> bool:
    kind = getattr(predictor, "_estimator_type", None)
    if kind is None and hasattr(predictor, "__sklearn_tags__"):
        kind = predictor.__sklearn_tags__().estimator_type
    return kind in ("classifier", "regressor")


def _input_names(model: Any, inputs: int) -> tuple[str, ...]:
    found = getattr(model, "feature_names_in_", None)
    return tuple(map(str, found)) if found is not None else tuple(f"x{number}" for number in range(inputs))


def _names_of(step: Any, names: Sequence[str], count: int) -> tuple[str, ...]:
    """The names of a step's outputs, as scikit-learn gives them; numbered ones where it has none."""
    for given in ((list(names),), ()):
        try:
            found = tuple(map(str, step.get_feature_names_out(*given)))
        except Exception:
            continue
        if len(found) == count == len(set(found)):
            return found
    return tuple(f"{type(step).__name__.lower()}{number}" for number in range(count))
