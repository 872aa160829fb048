"""The details of an incident as lines of a notice: what somebody who is paged needs first."""

from collections.abc import Iterable, Iterator

from whence.govern.gate.rendering.names import name_of
from whence.govern.incidents.detail import IncidentDetail, LastGood
from whence.govern.incidents.impact import Downstream
from whence.govern.notifications.notice import Detail
from whence.govern.notifications.rendering.texts import minute
from whence.model.names import FieldName
from whence.query.answers.probabilities import probability_text
from whence.query.diagnosis.diagnosis import PossibleCause

_MOST_UPSTREAM, _MOST_VIOLATIONS, _MOST_BUDGETS, _MOST_EVIDENCE, _MOST_NAMED = 5, 3, 3, 2, 3
_LONGEST_COMMIT = 12


def detail_lines(one: IncidentDetail) -> tuple[Detail, ...]:
    """The lines: impact, last good run, possible causes, what is upstream, contracts, and what is left of budgets."""
    return (
        *_impact(one),
        *_last_good(one.last_good),
        *_causes(one.candidates),
        *_upstream(one),
        *_violations(one),
        *_budgets(one),
    )


def _impact(one: IncidentDetail) -> Iterator[Detail]:
    for kind in one.impact:
        count = (
            f"{kind.total:,} {kind.kind.lower()}{'s' * (kind.total != 1)}{'' if one.impact_complete else ' or more'}"
        )
        names = tuple(node.name for node in kind.nearest[:_MOST_NAMED])
        yield Detail(label="Downstream", text=f"{count}{_named(kind)}", nodes=names, plain=count)


def _named(kind: Downstream) -> str:
    named = [f"{name_of(node.name)}{_owners(node.owners)}" for node in kind.nearest[:_MOST_NAMED]]
    return f": {', '.join(named)}" if named else ""


def _owners(owners: Iterable[str]) -> str:
    names = ", ".join(owners)
    return f" ({names})" if names else ""


def _last_good(good: LastGood | None) -> Iterator[Detail]:
    if good is None:
        return
    commit = f", commit {good.commit.version[:_LONGEST_COMMIT]}" if good.commit and good.commit.version else ""
    job = good.run.job
    yield Detail(label="Last successful run", text=f"{name_of(job)} at {minute(good.time)}{commit}", nodes=(job,))


def _causes(causes: Iterable[PossibleCause]) -> Iterator[Detail]:
    for cause in causes:
        text = f"{name_of(cause.dataset)} ({probability_text(cause.probability)})"
        yield Detail(label="Possible cause", text=text, nodes=(cause.dataset,))
        if evidence := "; ".join(each.text for each in cause.evidence[-_MOST_EVIDENCE:] if each.text):
            yield Detail(label="Evidence", text=f"{name_of(cause.dataset)}: {evidence}")


def _upstream(one: IncidentDetail) -> Iterator[Detail]:
    wrong_first = sorted(one.upstream, key=lambda each: not each.is_wrong)
    for each in wrong_first[:_MOST_UPSTREAM]:
        written = "never written" if each.last_written is None else f"written {minute(each.last_written)}"
        wrong = ", wrong as well" if each.is_wrong else ""
        yield Detail(label="Upstream", text=f"{name_of(each.dataset)}: {written}{wrong}", nodes=(each.dataset,))


def _violations(one: IncidentDetail) -> Iterator[Detail]:
    for each in one.contract_violations[:_MOST_VIOLATIONS]:
        column = f".{each.column}" if each.column else ""
        text = f"{name_of(each.dataset)}{column}: {each.rule} since {minute(each.since)}"
        nodes = (FieldName(each.dataset, each.column),) if each.column else ()
        yield Detail(label="Contract violated", text=text, nodes=nodes)
    if not one.violations_complete:
        yield Detail(label="Contract violated", text="perhaps others: not everything was read")


def _budgets(one: IncidentDetail) -> Iterator[Detail]:
    for each in one.budgets[:_MOST_BUDGETS]:
        if each.remaining is not None:
            text = f"{each.slo}: {each.remaining:.0%} left"
            yield Detail(label="Error budget", text=text, nodes=(each.dataset,))
