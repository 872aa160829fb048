"""The wires of fitted estimators, by their classes and the attributes that `fit` gave them.

Only classes of scikit-learn itself are known: a subclass may compute something else. Nothing of it is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Optional

from whence_client.lineage.columns import NOT_CAPTURED, OPAQUE_FUNCTION
from whence_client.sklearn.wires import Wire, chosen, computed, join, place, same, supervised

Rule = Callable[[Any, int, Optional[int]], "tuple[Wire, ...]"]
"""Gets a fitted step and the numbers of its inputs and, if it is known, outputs. Gives a wire for each output."""


class UnreadableStepError(Exception):
    """The outputs of a step cannot be distinguished."""


def wires_of(step: Any, inputs: int, outputs: int | None = None) -> tuple[Wire, ...]:
    """The wires of a transformer. Raises UnreadableStepError if it is not known how many outputs it has."""
    if step is None or isinstance(step, str):
        return tuple(map(same, range(inputs))) if step != "drop" else ()
    outputs = outputs if outputs is not None else _count_outputs(step)
    name = type(step).__name__
    if is_of_sklearn(step):
        rule = _RULES.get(name) or (_select if hasattr(step, "get_support") else None)
        if rule is not None:
            wires = rule(step, inputs, outputs)
            if outputs is None or len(wires) == outputs:
                return wires
        return _mix_all(inputs, outputs, NOT_CAPTURED)
    return _mix_all(inputs, outputs, OPAQUE_FUNCTION)


def is_of_sklearn(step: Any) -> bool:
    """Whether scikit-learn itself has the class."""
    return type(step).__module__.partition(".")[0] == "sklearn"


def _count_outputs(step: Any) -> int | None:
    try:
        return len(step.get_feature_names_out())
    except Exception:
        found = getattr(step, "_n_features_out", None)
        return int(found) if found is not None else None


def _mix_all(inputs: int, outputs: int | None, reason: str = "") -> tuple[Wire, ...]:
    if outputs is None:
        raise UnreadableStepError
    return (computed(range(inputs), reason=reason),) * outputs


def _mix(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """Each output of all inputs, with parameters of all."""
    return _mix_all(inputs, outputs)


def _mix_by_target(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    return tuple(map(supervised, _mix_all(inputs, outputs)))


def _mix_rows(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """Each output of all inputs of its row, without parameters."""
    return (computed(range(inputs), fitted=False),) * (outputs if outputs is not None else inputs)


def _scale(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """Each output of one input, with parameters of it."""
    return tuple(computed((one,)) for one in range(inputs))


def _convert(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """Each output of one input, without parameters."""
    return tuple(computed((one,), fitted=False) for one in range(inputs))


def _repeat(counts: Sequence[int]) -> tuple[Wire, ...]:
    """Several outputs of each input in turn."""
    return tuple(computed((number,)) for number, count in enumerate(counts) for _ in range(int(count)))


def _one_hot(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    counts = getattr(step, "_n_features_outs", None)
    return _repeat(counts if counts is not None else [len(one) for one in step.categories_])


def _bins(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    return _scale(step, inputs, outputs) if step.encode == "ordinal" else _repeat(step.n_bins_)


def _even(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """As many outputs of each input."""
    if outputs is None or outputs % inputs:
        raise UnreadableStepError
    return _repeat([outputs // inputs] * inputs)


def _encode_target(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    return tuple(map(supervised, _even(step, inputs, outputs)))


def _powers(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    rows = [[number for number, power in enumerate(row) if power] for row in step.powers_.tolist()]
    linear = [sum(row) == 1 for row in step.powers_.tolist()]
    return tuple(same(row[0]) if one else computed(row, fitted=False) for row, one in zip(rows, linear))


def _impute(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """By names: columns without any value are dropped, and indicators of missing values come after."""
    names = [str(one) for one in getattr(step, "feature_names_in_", [f"x{number}" for number in range(inputs)])]
    positions = {name: number for number, name in enumerate(names)}
    found = []
    for name in map(str, step.get_feature_names_out(names)):
        if name in positions:
            found.append(computed((positions[name],)))
        else:
            found.append(computed((positions[name[len("missingindicator_") :]],), fitted=False))
    return tuple(found)


def _impute_by_all(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """A missing value is computed of the other columns."""
    return _mix_all(inputs, outputs)


def _indicate(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    return tuple(computed((int(one),), fitted=False) for one in step.features_)


_CHOSEN_ALONE = ("VarianceThreshold",)
"""Selectors that choose each column by its own values."""


def _select(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    positions = [int(one) for one in step.get_support(indices=True)]
    if type(step).__name__ in _CHOSEN_ALONE:
        return tuple(chosen(same(one), (one,), by_target=False) for one in positions)
    return tuple(chosen(same(one), range(inputs), by_target=True) for one in positions)


def _agglomerate(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    groups = [int(one) for one in step.labels_]
    made = ([place for place, group in enumerate(groups) if group == number] for number in range(max(groups) + 1))
    return tuple(chosen(computed(members, fitted=False), range(inputs), by_target=False) for members in made)


def _call(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """A function of the user. A function of numpy works on each value by itself."""
    function = step.func
    if function is None:
        return tuple(map(same, range(inputs)))
    if type(function).__name__ == "ufunc" and function.nin == 1 and not step.kw_args:
        return _convert(step, inputs, outputs)
    wire = computed(range(inputs), fitted=False, reason=OPAQUE_FUNCTION)
    if outputs is None:
        raise UnreadableStepError
    return (wire,) * outputs


def _pipeline(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    steps = [one for _, one in step.steps if one is not None and one != "passthrough"]
    wires = tuple(map(same, range(inputs)))
    for number, one in enumerate(steps):
        following = steps[number + 1] if number + 1 < len(steps) else None
        width = outputs if following is None else getattr(following, "n_features_in_", None)
        wires = join(wires_of(one, len(wires), width), wires)
    return wires


def _columns(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    """Each transformer gets some of the columns, and has some of the outputs."""
    made: dict[int, Wire] = {}
    for name, transformer, _ in step.transformers_:
        taken = step.output_indices_.get(name, slice(0, 0))
        places = range(taken.start, taken.stop)
        if not places:
            continue
        positions = [int(one) for one in step._transformer_to_input_indices[name]]
        wires = wires_of(transformer, len(positions), len(places))
        made.update(zip(places, place(wires, positions)))
    return tuple(made[number] for number in range(len(made)))


def _union(step: Any, inputs: int, outputs: int | None) -> tuple[Wire, ...]:
    return tuple(wire for _, one in step.transformer_list for wire in wires_of(one, inputs))


_RULES: dict[str, Rule] = {
    "Pipeline": _pipeline,
    "ColumnTransformer": _columns,
    "FeatureUnion": _union,
    "OneHotEncoder": _one_hot,
    "KBinsDiscretizer": _bins,
    "SplineTransformer": _even,
    "TargetEncoder": _encode_target,
    "PolynomialFeatures": _powers,
    "SimpleImputer": _impute,
    "MissingIndicator": _indicate,
    "FunctionTransformer": _call,
    "FeatureAgglomeration": _agglomerate,
    "LabelBinarizer": _even,
    **dict.fromkeys(
        (
            *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer"),
            *("QuantileTransformer", "OrdinalEncoder", "LabelEncoder", "IsotonicRegression"),
        ),
        _scale,
    ),
    "Binarizer": _convert,
    **dict.fromkeys(("Normalizer", "HashingVectorizer", "FeatureHasher", "AdditiveChi2Sampler"), _mix_rows),
    **dict.fromkeys(("KNNImputer", "IterativeImputer"), _impute_by_all),
    **dict.fromkeys(
        ("LinearDiscriminantAnalysis", "NeighborhoodComponentsAnalysis", "PLSRegression", "PLSCanonical", "CCA"),
        _mix_by_target,
    ),
    **dict.fromkeys(
        (
            *("PCA", "IncrementalPCA", "KernelPCA", "SparsePCA", "MiniBatchSparsePCA", "TruncatedSVD", "FastICA"),
            *("FactorAnalysis", "NMF", "MiniBatchNMF", "DictionaryLearning", "LatentDirichletAllocation"),
            *("KMeans", "MiniBatchKMeans", "BisectingKMeans", "Birch", "Isomap", "LocallyLinearEmbedding"),
            *("Nystroem", "RBFSampler", "GaussianRandomProjection", "SparseRandomProjection", "BernoulliRBM"),
            *("CountVectorizer", "TfidfVectorizer", "TfidfTransformer", "RandomTreesEmbedding", "KernelCenterer"),
        ),
        _mix,
    ),
}

_REVERSIBLE = frozenset(
    (
        *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer"),
        *("QuantileTransformer", "OrdinalEncoder", "LabelEncoder"),
    )
)


def reversed_wires_of(step: Any, inputs: int) -> tuple[Wire, ...] | None:
    """The wires of `inverse_transform`, where each column comes back by itself; None for others."""
    is_reversible = is_of_sklearn(step) and type(step).__name__ in _REVERSIBLE
    return tuple(computed((one,)) for one in range(inputs)) if is_reversible else None
