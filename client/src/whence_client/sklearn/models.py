"""Fitted models: what they were fitted on, where they are saved, and what their outputs come from."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Callable

from whence_client.frames.frames import FrameLineage
from whence_client.frames.pending import PendingDataset
from whence_client.lineage.columns import (
    AGGREGATION,
    CONDITIONAL,
    FILTER,
    NOT_CAPTURED,
    TRANSFORMATION,
    Column,
    Dataset,
    Edge,
    Source,
    add_reason,
    decide,
    merge,
    read_column,
    transform,
    unknown,
)
from whence_client.lineage.rows import NO_ROWS, Rows, rows_by
from whence_client.sklearn.signatures import Signature
from whence_client.sklearn.wires import Wire

ALL = "*"
"""All fields of a model together."""
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Training:
    """The data that a model was fitted on: its input columns by position, the target, what weighed the rows."""

    features: tuple[Column, ...]
    target: Column | None = None
    rows: Rows = NO_ROWS
    inputs: frozenset[Dataset] = frozenset()

    def and_earlier(self, other: Training) -> Training:
        """Both lineages, for a model that is fitted further (`partial_fit`, `warm_start`)."""
        pairs = itertools.zip_longest(self.features, other.features, fillvalue=Column())
        targets = [one for one in (self.target, other.target) if one is not None]
        return Training(
            tuple(merge(pair) for pair in pairs),
            merge(targets) if targets else None,
            self.rows | other.rows,
            self.inputs | other.inputs,
        )


def weighed(rows: Rows, weights: Column | None) -> Rows:
    """Rows of training data, to which a column gives weight."""
    return rows | rows_by([weights], CONDITIONAL) if weights is not None else rows


class Model:
    """A fitted estimator. `training` is None if nobody saw the fit. `name` names it when it has to be a dataset."""

    def __init__(self, signature: Signature, training: Training | None, name: Callable[[Model], Dataset]) -> None:
        self.signature, self.training = signature, training
        self.dataset: Dataset | None = None
        """Where it is saved, or what it is called in memory, once something of it is written."""
        self._name = name
        self._pending = PendingDataset(f"model {next(_numbers)}", self._resolve)

    def lineage(self) -> FrameLineage:
        """The fields of the model with the training data that they come from."""
        signature = self.signature
        made = {wire: self._trained(wire) for wire in frozenset(signature.wires)}
        columns = {name: made[wire] for name, wire in zip(signature.names, signature.wires)}
        if signature.target:
            target = self.training.target if self.training else None
            columns[signature.target] = transform([target], AGGREGATION) if target else unknown(NOT_CAPTURED)
        training = self.training or Training(())
        return FrameLineage(columns, training.rows, training.inputs)

    def predict(self, inputs: Sequence[Column]) -> Column:
        """The sources of a prediction: the features' columns, and the model itself."""
        values = _pick(inputs, (position for wire in self.signature.wires for position in wire.values))
        reasons = frozenset().union(*(wire.reasons for wire in self.signature.wires))
        column = transform([*values, self._field(ALL)])
        for reason in sorted({*reasons, *([self.signature.reason] if self.signature.reason else [])}):
            column = add_reason(column, reason)
        return column

    def transform(self, inputs: Sequence[Column], wires: Sequence[Wire] | None = None) -> tuple[Column, ...]:
        """The sources of each output of a transformer; `wires` are those of a predictor that also transforms."""
        names = self.signature.names if not self.signature.is_predictor else itertools.repeat(ALL)
        return tuple(self._output(name, wire, inputs) for name, wire in zip(names, wires or self.signature.wires))

    def _output(self, name: str, wire: Wire, inputs: Sequence[Column]) -> Column:
        values = _pick(inputs, wire.values)
        column = merge(values) if wire.is_same else transform(values)
        column = merge([column, self._field(name)]) if wire.is_fitted else column
        for reason in sorted(wire.reasons):
            column = add_reason(column, reason)
        return column

    def _field(self, name: str) -> Column:
        """The model as a source. It is pending: the model may be saved before its outputs are."""
        return Column(direct=frozenset((Edge(Source(self._pending, name), TRANSFORMATION),)))

    def _resolve(self, name: str) -> Column:
        if self.dataset is None and not self.signature.is_predictor:
            wires = dict(zip(self.signature.names, self.signature.wires))
            return self._parameters(wires[name])
        dataset = self.dataset or self._name(self)
        return merge(read_column(dataset, one) for one in (self.signature.fields if name == ALL else (name,)))

    def _trained(self, wire: Wire) -> Column:
        if self.training is None:
            return unknown(NOT_CAPTURED)
        values = _pick(self.training.features, wire.values)
        column = merge([transform(values, AGGREGATION), self._parameters(wire)])
        for reason in sorted(wire.reasons):
            column = add_reason(column, reason)
        return column

    def _parameters(self, wire: Wire) -> Column:
        """What made the parameters of an output. The target counts where it made them, too."""
        if self.training is None:
            return unknown(NOT_CAPTURED)
        training = self.training
        target = [training.target] if training.target is not None else []
        used = [*_pick(training.features, wire.fitted), *(target if wire.of_target else [])]
        deciding = [*_pick(training.features, wire.chosen_by), *(target if wire.chosen_by_target else [])]
        return decide(transform(used, AGGREGATION), deciding, FILTER)


def _pick(columns: Sequence[Column], positions: Iterable[int]) -> list[Column]:
    return [columns[one] for one in sorted(frozenset(positions))]
