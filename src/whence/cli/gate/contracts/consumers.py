"""Who reads what the changes of a contract are about, and which objectives they have declared, as production knows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from whence.cli.answers.ask import Questions
from whence.cli.gate.production import QueriedProduction
from whence.client.acts.slos import DeclaredObjective
from whence.errors import WhenceError
from whence.govern.contracts.changes import ContractChange
from whence.govern.contracts.consumers import ConsumerObjective, Objectives
from whence.govern.contracts.review import ContractReader, Readers
from whence.govern.gate.impact import Assessment, Reader, is_hidden, subject_of
from whence.govern.gate.project import Project
from whence.govern.gate.walk import assess
from whence.govern.slos.demands import demand_of, demand_text
from whence.govern.slos.objectives import Objective
from whence.govern.slos.records import read_objective
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName, Node, parse_node

_NO_DATASET = "the contract names no dataset; state a server, or --namespace"
_HIDDEN = "this key may not see all objectives"
_UNREADABLE = "a declared objective cannot be read"


@dataclass(frozen=True, kw_only=True)
class ProductionConsumers:
    """The consumers of what a contract's changes are about. `datasets`: all of the contract; `since`: who has not read
    since then (µs) is no reader.
    """

    questions: Questions
    datasets: Sequence[DatasetName]
    since: int
    _known: dict[tuple[Sequence[DatasetName], str], Assessment] = field(default_factory=dict)

    def readers_of(self, change: ContractChange) -> Readers:
        """The readers of one change. Raises ApiError, StoreError."""
        if not (datasets := self._datasets_of(change)):
            return Readers(unknown=_NO_DATASET)
        assessment = self._assess(datasets, change.column)
        readers = self._with_owners(self._readers(assessment), assessment)
        return Readers(found=tuple(readers), unknown=_incomplete(assessment))

    def objectives_of(self, change: ContractChange) -> Objectives:
        """The objectives of the datasets of one change, and of all that its readers make of them. Raises ApiError,
        StoreError.
        """
        if not (datasets := self._datasets_of(change)):
            return Objectives(unknown=_NO_DATASET)
        assessment = self._assess(datasets, "")
        concerned = _concerned(datasets, assessment, is_read=bool(self._readers(assessment)))
        names = _names(concerned, assessment)
        declared = self.questions.objectives([str(one) for one in names])
        found = [_objective(one, names, assessment) for one in declared.objectives]
        unknown = _incomplete(assessment)
        if declared.hidden and any(is_hidden(one) for one in concerned):
            unknown = unknown or _HIDDEN
        if None in found:
            unknown = unknown or (_HIDDEN if any(one.text is None for one in declared.objectives) else _UNREADABLE)
        known = sorted((one for one in found if one is not None), key=lambda one: (one.service, one.name, one.dataset))
        return Objectives(found=tuple(known), unknown=unknown)

    def _datasets_of(self, change: ContractChange) -> tuple[DatasetName, ...]:
        return change.datasets or (() if change.column else tuple(self.datasets))

    def _assess(self, datasets: tuple[DatasetName, ...], column: str) -> Assessment:
        key = (datasets, column)
        if key not in self._known:
            removed = [ColumnChange(dataset=one, column=column or None, kind=ChangeKind.REMOVED) for one in datasets]
            self._known[key] = assess(removed, QueriedProduction(questions=self.questions), Project())
        return self._known[key]

    def _readers(self, assessment: Assessment) -> Sequence[Reader]:
        found = (reader for one in assessment.changes for reader in one.impact.readers)
        return [one for one in found if one.last_seen >= self.since]

    def _with_owners(self, readers: Sequence[Reader], assessment: Assessment) -> Iterator[ContractReader]:
        subjects = tuple(dict.fromkeys(subject_of(one.job) for one in readers))
        jobs = QueriedProduction(questions=self.questions).facts(subjects) if readers else {}
        for one in dict.fromkeys(readers):
            subject: Node = subject_of(one.job)
            of_job = jobs[subject].owners if subject in jobs else ()
            owners = assessment.facts_of(one.target).owners or of_job
            yield ContractReader(job=one.job, target=one.target, owners=owners, last_seen=one.last_seen)


def _incomplete(assessment: Assessment) -> str:
    return next((one.impact.incomplete for one in assessment.changes if one.impact.incomplete), "")


def _concerned(datasets: Sequence[DatasetName], assessment: Assessment, *, is_read: bool) -> set[DatasetName]:
    """The datasets of a change, and those downstream of them if anybody reads them of late."""
    affected = (subject for one in assessment.changes for subject in one.impact.subjects) if is_read else ()
    return {*datasets, *(one for one in affected if isinstance(one, DatasetName))}


def _names(datasets: set[DatasetName], assessment: Assessment) -> dict[DatasetName, DatasetName]:
    """Every name of the datasets, each with the one that production gives it. Hidden ones have none."""
    canonical = {assessment.names.get(one, one) for one in datasets if not is_hidden(one)}
    named = {one: assessment.names.get(one, one) for one in datasets if not is_hidden(one)}
    others = {name: of for name, of in assessment.names.items() if isinstance(name, DatasetName) and of in canonical}
    return {**{one: one for one in canonical}, **named, **others}


def _objective(
    one: DeclaredObjective, names: dict[DatasetName, DatasetName], assessment: Assessment
) -> ConsumerObjective | None:
    """An objective with its demand; None if its text may not be seen, or is of another version of Whence."""
    dataset, objective = parse_node(one.dataset), _read(one.text or "")
    if objective is None or not isinstance(dataset, DatasetName):
        return None
    known = names.get(dataset, dataset)
    return ConsumerObjective(
        service=one.service,
        name=one.name,
        dataset=known,
        owners=assessment.facts_of(known).owners,
        demand=demand_of(objective),
        text=demand_text(objective),
    )


def _read(text: str) -> Objective | None:
    """An objective; None if it cannot be read here: holidays need a package that only servers have."""
    try:
        return read_objective(text)
    except WhenceError:
        return None
