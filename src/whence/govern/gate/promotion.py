"""The promotion gate: whether the lineage of a dataset, a model or a job is good enough to rely on. Pure functions."""

from collections.abc import Iterator
from dataclasses import dataclass

from whence.govern.gate.impact import Facts, is_hidden
from whence.govern.gate.policy import Rules, Verdict
from whence.model.names import DatasetName, FieldName, JobName, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenViolation:
    """A check that its last run reported as failed, and not as a warning; or a rule of a contract that is violated.

    `contract`: the id and version of that contract; empty: it is a check of a job.
    """

    dataset: DatasetName
    column: str | None
    assertion: str
    job: str = ""
    contract: str = ""

    @property
    def text(self) -> str:
        """As people read it."""
        if self.contract:
            return f"the contract {self.contract} upstream is violated: {self.assertion}"
        return f"a check upstream failed last: {self.assertion}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamClosure:
    """All that a node is made of, as production knows it.

    `outputs`: the datasets that are promoted: a job's, or the dataset itself. `orphans`: those without an input.
    `inputs`: what they are made of at the first hop, with what is asserted of each. `explained`: columns upstream whose
    sources are known; `unexplained`: those of which a job does not report them. `incomplete`: why there may be more.
    """

    subject: DatasetName | JobName
    outputs: tuple[DatasetName, ...] = ()
    orphans: tuple[DatasetName, ...] = ()
    inputs: tuple[tuple[DatasetName, Facts], ...] = ()
    explained: frozenset[FieldName] = frozenset()
    unexplained: frozenset[FieldName] = frozenset()
    violations: tuple[OpenViolation, ...] = ()
    incomplete: tuple[str, ...] = ()
    graph_version: str = ""

    @property
    def coverage(self) -> float | None:
        """The share of columns upstream whose sources are known, from 0 to 1; None if there is no such column."""
        whole = len(self.explained) + len(self.unexplained)
        return len(self.explained) / whole if whole else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one criterion makes of a closure. `nodes`: what the text is about."""

    criterion: str
    text: str
    verdict: Verdict
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The verdict on a promotion, with everything that it follows from: PASS, UNKNOWN or BLOCKED."""

    verdict: Verdict
    closure: UpstreamClosure
    findings: tuple[Finding, ...]


def judge_promotion(closure: UpstreamClosure, rules: Rules) -> Promotion:
    """Whether a node may be promoted, by the criteria of `promotion` in gate.yaml."""
    findings = tuple(found for criterion in _CRITERIA for found in criterion(closure, rules))
    verdict = max((one.verdict for one in findings), default=Verdict.PASS)
    return Promotion(verdict=verdict, closure=closure, findings=findings)


_REPORT_SCHEMA = (
    "if the schema of an output is missing, report it "
    "(of dbt: `dbt docs generate`, then `whence capture dbt` once more)"
)


def _coverage(closure: UpstreamClosure, rules: Rules) -> Iterator[Finding]:
    least, coverage = rules.promotion_coverage / 100, closure.coverage
    if coverage is None and not closure.orphans:
        text = f"no column upstream is known, so the coverage of columns is not; {_REPORT_SCHEMA}"
        yield Finding(criterion="coverage", text=text, verdict=Verdict.UNKNOWN, nodes=closure.outputs)
    elif coverage is not None and coverage < least:
        text = f"the sources of {coverage:.1%} of the columns upstream are known, less than {least:.0%}"
        missing = tuple(sorted((one for one in closure.unexplained if not is_hidden(one)), key=str))
        yield Finding(criterion="coverage", text=text, verdict=Verdict.BLOCKED, nodes=missing)


def _orphans(closure: UpstreamClosure, rules: Rules) -> Iterator[Finding]:
    if closure.orphans:
        text = "it has an output without any input: nobody knows what that is made of"
        yield Finding(criterion="orphan", text=text, verdict=Verdict.BLOCKED, nodes=closure.orphans)
    if not closure.outputs:
        text = "it writes nothing; if other jobs run inside of it, as in a DAG, name each of those that write"
        yield Finding(criterion="orphan", text=text, verdict=Verdict.UNKNOWN, nodes=(closure.subject,))


def _violations(closure: UpstreamClosure, rules: Rules) -> Iterator[Finding]:
    for one in closure.violations:
        node = FieldName(one.dataset, one.column) if one.column else one.dataset
        yield Finding(criterion="violation", text=one.text, verdict=Verdict.BLOCKED, nodes=(node,))


def _inputs(closure: UpstreamClosure, rules: Rules) -> Iterator[Finding]:
    plain = tuple(one for one, facts in closure.inputs if not facts.certified)
    if rules.promotion_certified_inputs and plain:
        text = f"{len(plain):,} of {len(closure.inputs):,} inputs are not certified"
        yield Finding(criterion="certified-inputs", text=text, verdict=Verdict.BLOCKED, nodes=plain)


def _incomplete(closure: UpstreamClosure, rules: Rules) -> Iterator[Finding]:
    for reason in closure.incomplete:
        yield Finding(criterion="incomplete", text=reason, verdict=rules.on_incomplete.verdict)


_CRITERIA = (_orphans, _coverage, _violations, _inputs, _incomplete)
