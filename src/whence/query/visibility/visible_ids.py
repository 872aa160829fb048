"""Visible ids: the ids and names that one viewer may see, and the nodes and runs behind them."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Protocol

from whence.model.graph import RunRow
from whence.model.ids import Kind, kind_of, node_id
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName, parse_node
from whence.query.answers.values import dataset_of
from whence.query.ports.graph import RunEnds
from whence.query.questions.blast_radius import Blasts
from whence.query.questions.dropped_datasets import DroppedDatasets
from whence.query.questions.impact import LastRuns
from whence.query.questions.measurements import Measured
from whence.query.runs.resolve import JobRuns
from whence.query.visibility.pseudonyms import Pseudonyms


class QuestionGraph(RunEnds, Blasts, DroppedDatasets, JobRuns, LastRuns, Measured, Protocol):
    """All ports of a graph that questions use."""


@dataclass(slots=True)
class VisibleIds:
    """Translates between one viewer and a graph, for one request: real ids on one side, ids of visible names on the
    other.

    An id that the viewer gets is that of the name that they get, so ids computed from pseudonyms resolve here.
    """

    graph: QuestionGraph
    pseudonyms: Pseudonyms
    names: dict[int, Node] = field(default_factory=dict)
    """Real id → the name that the viewer sees, for all nodes read so far."""
    runs: dict[int, RunRow] = field(default_factory=dict)
    """Real id → the run as the viewer sees it, for all runs read so far."""
    groups: dict[int, tuple[DatasetName, ...]] = field(default_factory=dict)
    """Real id of a dataset → all its real names; only its own if it has no alias."""
    _borrowed: set[int] = field(default_factory=set)
    """Real ids of fields that a dataset has only under hidden names."""
    _families: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Real id → the ids of all names of the same node, visible ones first; only for nodes with several names."""
    _real: dict[int, int] = field(default_factory=dict)
    _shown: dict[int, int] = field(default_factory=dict)

    def meet(self, ids: Iterable[int]) -> None:
        """Read the visible names of these real nodes, and of their aliases."""
        new = sorted({id_ for id_ in ids if id_ and id_ not in self.names})
        found = self.graph.nodes(new) if new else {}
        self._learn_groups({of for name in found.values() if (of := dataset_of(name))})
        families = {id_: cousins for id_, name in found.items() if len(cousins := self._all_names(name)) > 1}
        self._learn_borrowed([name for id_ in families if isinstance(name := found[id_], FieldName)])
        for cousins in families.values():
            self._show_family(cousins)
        for id_ in found.keys() - families.keys():
            self._show(id_, found[id_])

    def meet_runs(self, ids: Iterable[int]) -> None:
        """Read the visible names of these real runs."""
        new = sorted({id_ for id_ in ids if id_ not in self.runs})
        for row in self.graph.runs(new) if new else ():
            self.show_run(row)

    def show_run(self, row: RunRow) -> RunRow:
        """A run as the viewer sees it."""
        job = self.pseudonyms.job(row.name.job)
        self._show(node_id(row.name.job), row.name.job)
        name = row.name if job == row.name.job else RunName(self.pseudonyms.text("run", row.id), job)
        self.runs[row.id] = shown = row._replace(id=node_id(name), name=name)
        self._real[shown.id], self._shown[row.id] = row.id, shown.id
        return shown

    def real(self, ids: Iterable[int]) -> dict[int, int]:
        """The ids among these that the viewer may see, in order, with their real ids."""
        wanted = list(ids)
        new = [id_ for id_ in wanted if id_ not in self._real]
        self.meet_runs(id_ for id_ in new if kind_of(id_) is Kind.RUN)
        self.meet(id_ for id_ in new if kind_of(id_) is not Kind.RUN)
        return {id_: self._real[id_] for id_ in wanted if id_ in self._real}

    def shown(self, real: int) -> int:
        """The visible id of a node or run read before; 0 for none, and for one that was not read."""
        return self._shown.get(real, 0)

    def all_shown(self, real: Sequence[int]) -> Sequence[int]:
        """The visible ids of nodes, in order; none for those that the viewer may not know of."""
        self.meet(real)
        return sorted(shown for id_ in real if (shown := self.shown(id_)))

    def can_see(self, real: int) -> bool:
        """Whether the viewer sees a node or run under its own name."""
        return not real or self._shown.get(real) == real

    def find_visible(self, texts: AbstractSet[str]) -> frozenset[str]:
        """The node ids among texts that the viewer may see, known to the graph or not."""
        nodes = {text: node for text in texts if (node := parse_node(text)) is not None}
        datasets = [of for node in nodes.values() if (of := dataset_of(node)) is not None]
        self.meet({node_id(one) for one in (*nodes.values(), *datasets)})
        fields = [one for one in nodes.values() if isinstance(one, FieldName) and node_id(one.dataset) in self.groups]
        self.meet({node_id(cousin) for one in fields for cousin in self._all_names(one)})
        return frozenset(text for text, node in nodes.items() if self._sees_name(node))

    def _sees_name(self, name: Node) -> bool:
        """Whether a node is visible under its own name. One that the graph lacks may be a field of a known dataset, and
        then be known under a hidden name of it only.
        """
        if self.shown(id_ := node_id(name)):
            return self.can_see(id_)
        if isinstance(name, FieldName) and (of := node_id(name.dataset)) in self.groups:
            known = [id_ for one in self._all_names(name) if self.shown(id_ := node_id(one))]
            is_borrowed = bool(known) and not any(map(self.can_see, known))
            return self.can_see(of) and not is_borrowed and self.field(of, name.field) == name.field
        return self.pseudonyms.viewer.can_see(name)

    def is_token(self, id_: int) -> bool:
        """Whether an id that the viewer got is a pseudonym's."""
        return self._real.get(id_, id_) != id_

    def group(self, real: int) -> tuple[DatasetName, ...]:
        """The names of a dataset that the viewer sees: a visible one represents the hidden ones."""
        found = self.groups.get(real, ())
        return tuple(map(self.pseudonyms.dataset, sorted(found, key=self._is_hidden)))

    def cousins(self, real: int) -> Sequence[int]:
        """The real ids of all names of a node, visible ones first; empty if it has only one name."""
        return self._families.get(real, ())

    def field(self, dataset: int, text: str) -> str:
        """The name or pseudonym of a field within its dataset."""
        return self.pseudonyms.field(self.groups[dataset], text)

    def _learn_groups(self, datasets: Iterable[DatasetName]) -> None:
        new = {id_: name for name in datasets if (id_ := node_id(name)) not in self.groups}
        found = self.graph.groups(sorted(new)) if new else {}
        for id_, name in new.items():
            group = found.get(id_, (name,))
            self.groups |= dict.fromkeys(map(node_id, group), group)

    def _learn_borrowed(self, fields: Iterable[FieldName]) -> None:
        """Fields that a dataset has only under hidden names. Anybody may declare an alias: that reveals no column of
        it.
        """
        hidden = [name for name in fields if self._is_hidden(name)]
        seen = {name: [node_id(one) for one in self._all_names(name) if not self._is_hidden(one)] for name in hidden}
        cousins = sorted({id_ for ids in seen.values() for id_ in ids})
        found = self.graph.nodes(cousins) if cousins else {}
        for name, ids in seen.items():
            if found.keys().isdisjoint(ids):
                self._borrowed |= set(map(node_id, self._all_names(name)))

    def _is_hidden(self, name: Node) -> bool:
        return not self.pseudonyms.can_see(name.dataset if isinstance(name, FieldName) else name)

    def _all_names(self, name: Node) -> Sequence[Node]:
        """All names of a node: questions compute their ids, so each must be resolved."""
        match name:
            case FieldName(dataset, text):
                return [FieldName(member, text) for member in self.groups[node_id(dataset)]]
            case DatasetName():
                return self.groups[node_id(name)]
            case JobName():
                return (name,)

    def _show_family(self, names: Sequence[Node]) -> None:
        family = tuple(map(node_id, sorted(names, key=self._is_hidden)))
        self._families |= dict.fromkeys(family, family)
        for name in names:
            self._show(node_id(name), name)

    def _text(self, real: int, name: FieldName) -> str:
        group = self.groups[node_id(name.dataset)]
        is_borrowed = real in self._borrowed
        return (
            self.pseudonyms.field_token(group, name.field) if is_borrowed else self.pseudonyms.field(group, name.field)
        )

    def _show(self, real: int, name: Node) -> None:
        match name:
            case FieldName(dataset):
                shown: Node = FieldName(self.pseudonyms.dataset(dataset), self._text(real, name))
            case DatasetName():
                shown = self.pseudonyms.dataset(name)
            case JobName():
                shown = self.pseudonyms.job(name)
        known = real if shown == name else node_id(shown)
        self.names[real] = shown
        self._real[known], self._shown[real] = real, known
