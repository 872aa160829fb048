"""The rules one by one: each says what it makes of one change, and why."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from whence.govern.gate.impact import Assessed, Assessment, Facts, Reader, is_hidden
from whence.govern.gate.judgement import Reason
from whence.govern.gate.policy import Reaction, Rules, Verdict
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import FieldName, Node

BREAKING = frozenset({ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.TYPE})
"""After these, who reads the column fails, or reads something else under its name."""
_DAY = 86_400_000_000
"""Microseconds."""


@dataclass(frozen=True, slots=True)
class Case:
    """One change, what it affects, and what is needed to judge it. `now`: µs UTC."""

    assessed: Assessed
    assessment: Assessment
    rules: Rules
    now: int

    @property
    def kind(self) -> ChangeKind:
        """The kind of the change."""
        return self.assessed.change.kind

    @property
    def subject(self) -> Node:
        """What changed: a column, or a dataset."""
        change = self.assessed.change
        return change.dataset if change.column is None else FieldName(change.dataset, change.column)

    @property
    def own_facts(self) -> Facts:
        """What is asserted of the dataset that changed."""
        return self.assessment.facts_of(self.assessed.change.dataset)

    @property
    def readers(self) -> tuple[Reader, ...]:
        """The jobs that read it of late."""
        since = self.now - self.rules.readers_within_days * _DAY
        return tuple(one for one in self.assessed.impact.readers if one.last_seen >= since)

    @property
    def is_unused(self) -> bool:
        """Whether it goes away and nobody has read it of late, as far as is known."""
        impact = self.assessed.impact
        return self.kind in BREAKING and not self.readers and not impact.incomplete


def reasons_of(case: Case) -> tuple[Reason, ...]:
    """Every rule that the change fits, the worst first."""
    if case.kind.is_harmless:
        return ()
    if case.kind is ChangeKind.NOT_CONFIRMED and case.rules.on_not_confirmed is not Reaction.JUDGE:
        return tuple(_not_confirmed(case))
    found = [reason for rule in _RULES for reason in rule(case)]
    return tuple(sorted(found, key=lambda one: -one.verdict)) or tuple(_unremarkable(case))


def _broken_reference(case: Case) -> Iterator[Reason]:
    if case.kind is ChangeKind.BROKEN_REFERENCE:
        verdict = case.rules.on_broken_reference.verdict
        yield Reason("broken-reference", "it reads something that is no more", verdict, (case.subject,), _own(case))


def _unknown(case: Case) -> Iterator[Reason]:
    if case.kind is ChangeKind.UNKNOWN:
        verdict = case.rules.on_unknown.verdict
        yield Reason("unknown", "what changes could not be found out", verdict, (case.subject,), _own(case))


def _not_confirmed(case: Case) -> Iterator[Reason]:
    """A note at least, where somebody relies on a promise: it is not known that nothing changes."""
    promised = _hit(case, lambda facts: facts.certified or facts.tier in case.rules.tiers or bool(facts.contract))
    verdict = max(case.rules.on_not_confirmed.verdict, Verdict.NOTE if promised else Verdict.PASS)
    if verdict is not Verdict.PASS:
        text = "the code differs, and executing both versions showed no difference"
        yield Reason("not-confirmed", text, verdict, promised or (case.subject,), _own(case))


def _contract(case: Case) -> Iterator[Reason]:
    if case.kind not in BREAKING or not case.own_facts.contract or case.is_unused or not _is_promised(case):
        return
    dataset, verdict = case.assessed.change.dataset, case.rules.on_contract.verdict
    text = "it breaks the contract of its dataset: that needs a new major version and a migration note"
    if dataset in case.assessment.announced:
        text, verdict = "it breaks the contract of its dataset, which gets a new major version", Verdict.NOTE
    yield Reason("contract", text, verdict, (dataset,), _own(case))


def _is_promised(case: Case) -> bool:
    """Whether the contract is about what changes: a column that it does not name is nobody's to rely on."""
    promised, column = case.own_facts.promised, _column_before(case.assessed.change)
    return promised is None or column is None or column.casefold() in promised


def _column_before(change: ColumnChange) -> str | None:
    return change.before if change.kind is ChangeKind.RENAMED and change.before else change.column


def _breaking(case: Case) -> Iterator[Reason]:
    if case.kind in BREAKING and (readers := case.readers):
        targets = tuple(dict.fromkeys(one.target for one in readers))
        text = f"{_number(len(readers), 'job')} read it within {case.rules.readers_within_days} days"
        yield Reason("breaking", text, case.rules.on_breaking.verdict, targets, _owners(case, targets))


def _certified(case: Case) -> Iterator[Reason]:
    if case.rules.certified and (nodes := _hit(case, lambda facts: facts.certified)):
        text = f"{_number(len(nodes), 'certified dataset')} {_is_or_are(nodes)} affected"
        yield Reason("certified", text, Verdict.APPROVAL_NEEDED, nodes, _owners(case, nodes))


def _tier(case: Case) -> Iterator[Reason]:
    nodes = _hit(case, lambda facts: facts.tier in case.rules.tiers)
    if nodes:
        tiers = sorted({case.assessment.facts_of(node).tier or 0 for node in nodes})
        text = f"{_number(len(nodes), 'dataset')} of tier {', '.join(map(str, tiers))} {_is_or_are(nodes)} affected"
        yield Reason("tier", text, Verdict.APPROVAL_NEEDED, nodes, _owners(case, nodes))


def _downstream_nodes(case: Case) -> Iterator[Reason]:
    most, nodes = case.rules.downstream_nodes, case.assessed.impact.subjects
    if most is not None and len(nodes) > most and not case.is_unused:
        text = f"{_number(len(nodes), 'node')} {_is_or_are(nodes)} downstream, more than {most:,}"
        yield Reason("downstream-nodes", text, Verdict.APPROVAL_NEEDED, (case.subject,), _own(case))


def _incomplete(case: Case) -> Iterator[Reason]:
    if because := case.assessed.impact.incomplete:
        text = f"{because}: more may be affected"
        yield Reason("incomplete", text, case.rules.on_incomplete.verdict, (case.subject,), _own(case))


def _unremarkable(case: Case) -> Iterator[Reason]:
    if case.is_unused:
        yield Reason("unused", f"nobody read it within {case.rules.readers_within_days} days", Verdict.NOTE)
    elif subjects := case.assessed.impact.subjects:
        yield Reason("affected", f"{_number(len(subjects), 'node')} downstream", Verdict.NOTE)


_RULES: tuple[Callable[[Case], Iterator[Reason]], ...] = (
    *(_broken_reference, _unknown, _contract, _breaking, _certified, _tier, _downstream_nodes, _incomplete),
)


def _hit(case: Case, fits: Callable[[Facts], bool]) -> tuple[Node, ...]:
    """The changed dataset and the affected ones of which something holds. What nobody reads hits its own alone."""
    affected = () if case.is_unused else case.assessed.impact.subjects
    subjects = dict.fromkeys((case.assessed.change.dataset, *affected))
    return tuple(one for one in subjects if not is_hidden(one) and fits(case.assessment.facts_of(one)))


def _own(case: Case) -> tuple[str, ...]:
    return _owners(case, (case.assessed.change.dataset,))


def _owners(case: Case, nodes: tuple[Node, ...]) -> tuple[str, ...]:
    """The owners of nodes; an empty one stands for those of a node that nobody owns, or whose owner is hidden."""
    return tuple(sorted({owner for node in nodes for owner in case.assessment.facts_of(node).owners or ("",)}))


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _is_or_are(nodes: tuple[Node, ...]) -> str:
    return "is" if len(nodes) == 1 else "are"
