"""The sources of findings: recorded transitions of objectives, failed runs, failed checks, violated contracts and
silent sources. Pure.

How urgent a finding is: what the alert of an objective says; of the others, a page if its dataset is of
tier 1, else a ticket.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from whence.govern.contracts.evaluation.silent_sources import SilentTime
from whence.govern.contracts.evaluation.violations import Violation
from whence.govern.incidents.findings import Finding, FindingKind, finding_id
from whence.govern.slos.evaluation.facts import is_of_silence
from whence.govern.slos.records import Transition
from whence.model.names import DatasetName, RunName, parse_node
from whence.model.slo_records import StateText
from whence.model.traits import Traits

_STILL: frozenset[StateText] = frozenset({"violated", "not evaluated", "learning"})
"""States in which a violation goes on: that nothing is measured any more ends none."""
PAGING_TIER = 1
_MOST_DIGITS = 4
_REPORTS = "its source reports"
"""The rule that a silent source violates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Failed runs of a job without a good one between them, and what the job writes. Times in µs.

    `id`: the same whenever it is read; `run`: the first of them; `until`: None while the job fails.
    """

    id: str
    run: RunName
    outputs: tuple[DatasetName, ...]
    since: int
    until: int | None
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFailure:
    """A check of a dataset that failed in runs without one between them in which it held. Times in µs."""

    id: str
    dataset: DatasetName
    check: str
    column: str | None
    run: RunName
    since: int
    until: int | None
    reason: str = ""


def slo_findings(
    transitions: Iterable[Transition], columns: Mapping[tuple[str, str], str] | None = None
) -> Iterator[Finding]:
    """The findings of objectives, by their transitions in order: one while it is violated or an alert is open.

    `columns`: by the id and the version of an objective, the column that it is about.
    """
    current: dict[str, Finding] = {}
    for one in transitions:
        slo, is_wrong = one.record.slo, one.record.after == "violated" or one.record.notify is not None
        found = current.pop(slo, None) or (_slo_finding(one, columns or {}) if is_wrong else None)
        if found is None:
            continue
        if is_wrong or one.record.after in _STILL:
            current[slo] = _with_quiet(_with_urgency(found, one), one)
        else:
            yield replace(found, until=one.time)
    yield from current.values()


def _slo_finding(one: Transition, columns: Mapping[tuple[str, str], str]) -> Finding | None:
    dataset = parse_node(one.record.dataset)
    if not isinstance(dataset, DatasetName):
        return None
    return Finding(
        id=finding_id(FindingKind.SLO, dataset, one.record.slo, one.id),
        kind=FindingKind.SLO,
        rule=f"{one.record.service}/{one.record.name}",
        dataset=dataset,
        column=columns.get((one.record.slo, one.record.version), ""),
        since=one.time,
        notify_rule="no alert of the objective is open",
        reason=one.record.reason,
        run=one.record.run,
        source="",
    )


def _with_quiet(found: Finding, one: Transition) -> Finding:
    """The finding, quiet from the end of a violation on, until the next one."""
    if found.quiet and found.quiet[-1][1] is None:
        begin, _ = found.quiet[-1]
        return found if one.record.after != "violated" else replace(found, quiet=(*found.quiet[:-1], (begin, one.time)))
    if one.record.before == "violated" and one.record.after == "holds":
        return replace(found, quiet=(*found.quiet, (one.time, None)))
    return found


def _with_urgency(found: Finding, one: Transition) -> Finding:
    """The finding, as urgent as the most urgent alert that was open since it began."""
    match one.record.notify:
        case "page" if found.page_since is None:
            return replace(found, page_since=one.time, notify_rule="an alert of the objective pages")
        case "ticket" if found.notify is None:
            return replace(found, ticket_since=one.time, notify_rule="an alert of the objective opens a ticket")
    return found


def failure_findings(failures: Iterable[Failure], tiers: Mapping[DatasetName, int]) -> Iterator[Finding]:
    """The findings of failed runs: one for each dataset that the job writes."""
    for one in failures:
        for dataset in one.outputs:
            is_page = tiers.get(dataset) == PAGING_TIER
            yield Finding(
                id=finding_id(FindingKind.RUN, dataset, str(one.run.job), one.id),
                kind=FindingKind.RUN,
                rule=str(one.run.job),
                dataset=dataset,
                since=one.since,
                until=one.until,
                ticket_since=one.since,
                page_since=one.since if is_page else None,
                notify_rule=_rule("a run failed", is_page=is_page),
                reason=f"{one.failures} runs failed" if one.failures > 1 else "a run failed",
                run=str(one.run),
                source=f"{one.run.job} {one.id}",
            )


def without_contracted(
    failures: Iterable[CheckFailure], violations: Iterable[Violation], ids: Mapping[DatasetName, frozenset[int]]
) -> Iterator[CheckFailure]:
    """Failed checks without the times in which they violate a rule of a contract: that is one thing, and one finding.

    `ids`: of each dataset, under all its names.
    """
    violated: dict[tuple[frozenset[int], str, str], list[Violation]] = {}
    for one in violations:
        violated.setdefault((ids[one.dataset], one.verdict.rule, one.verdict.column.casefold()), []).append(one)
    for failure in failures:
        key = ids[failure.dataset], failure.check, (failure.column or "").casefold()
        yield from _outside(failure, sorted(violated.get(key, ()), key=lambda one: one.since))


def _outside(failure: CheckFailure, violations: Iterable[Violation]) -> Iterator[CheckFailure]:
    """The parts of a failure that are outside of violations, in order. The first moment keeps its id."""
    begin: int | None = failure.since
    for one in violations:
        if begin is None or (one.until is not None and one.until <= begin):
            continue
        if failure.until is not None and failure.until <= one.since:
            break
        if begin < one.since:
            yield _part(failure, begin, one.since)
        begin = one.until
    if begin is not None and (failure.until is None or begin < failure.until):
        yield _part(failure, begin, failure.until)


def _part(failure: CheckFailure, since: int, until: int | None) -> CheckFailure:
    id_ = failure.id if since == failure.since else f"{failure.id}/{since}"
    return replace(failure, id=id_, since=since, until=until)


def check_findings(failures: Iterable[CheckFailure], tiers: Mapping[DatasetName, int]) -> Iterator[Finding]:
    """The findings of failed checks."""
    for one in failures:
        is_page = tiers.get(one.dataset) == PAGING_TIER
        yield Finding(
            id=finding_id(FindingKind.CHECK, one.dataset, one.check, one.column or "", one.id),
            kind=FindingKind.CHECK,
            rule=f"{one.check} of {one.column}" if one.column else one.check,
            dataset=one.dataset,
            column=one.column or "",
            since=one.since,
            until=one.until,
            ticket_since=one.since,
            page_since=one.since if is_page else None,
            notify_rule=_rule("a check failed", is_page=is_page),
            reason=one.reason or "a check failed",
            run=str(one.run),
        )


def contract_findings(violations: Iterable[Violation], tiers: Mapping[DatasetName, int]) -> Iterator[Finding]:
    """The findings of violated contracts."""
    for one in violations:
        verdict, is_page = one.verdict, tiers.get(one.dataset) == PAGING_TIER
        parts = (f"expected {verdict.expected}" if verdict.expected else "", f"found {verdict.observed}")
        yield Finding(
            id=finding_id(FindingKind.CONTRACT, one.dataset, verdict.rule, verdict.column.casefold(), str(one.good_at)),
            kind=FindingKind.CONTRACT,
            rule=f"{verdict.rule} of {verdict.column}" if verdict.column else verdict.rule,
            dataset=one.dataset,
            column=verdict.column,
            since=one.since,
            until=one.until,
            ticket_since=one.since,
            page_since=one.since if is_page else None,
            notify_rule=_rule("its contract is violated", is_page=is_page),
            reason=", ".join(filter(None, parts)),
            run=None if verdict.run is None else str(verdict.run),
        )


def datasets_of_silences(transitions: Iterable[Transition]) -> frozenset[DatasetName]:
    """The datasets whose source was silent at some time."""
    found = (parse_node(one.record.dataset) for one in transitions if is_of_silence(one.record.reason))
    return frozenset(one for one in found if isinstance(one, DatasetName))


def silence_findings(transitions: Iterable[Transition], tiers: Mapping[DatasetName, int]) -> Iterator[Finding]:
    """The findings of silent sources, by the transitions of objectives in order: of each objective one as long as it is
    not evaluated for that reason, so that not every table pages. Those of one source that fell silent at one time are
    one thing: nobody knows whether its data is late, and somebody has to be told.
    """
    current: dict[str, Finding] = {}
    for one in transitions:
        found = current.pop(one.record.slo, None)
        if not is_of_silence(one.record.reason):
            if found is not None:
                yield replace(found, until=one.time)
            continue
        found = found or _silence_finding(one, tiers)
        if found is not None:
            current[one.record.slo] = found
    yield from current.values()


def contract_silence_findings(
    times: Iterable[tuple[DatasetName, SilentTime]], tiers: Mapping[DatasetName, int]
) -> Iterator[Finding]:
    """The findings of silent sources of datasets whose contract promises a service level: one for each silent time."""
    for dataset, one in times:
        is_page = tiers.get(dataset) == PAGING_TIER
        yield Finding(
            id=finding_id(FindingKind.CAPTURE, dataset, "contract", str(one.written)),
            kind=FindingKind.CAPTURE,
            rule=_REPORTS,
            dataset=dataset,
            since=one.since,
            until=one.until,
            ticket_since=one.since,
            page_since=one.since if is_page else None,
            notify_rule=_rule("its source is silent", is_page=is_page),
            reason=one.reason,
            source=f"{FindingKind.CAPTURE} {one.reason}",
        )


def _silence_finding(one: Transition, tiers: Mapping[DatasetName, int]) -> Finding | None:
    dataset = parse_node(one.record.dataset)
    if not isinstance(dataset, DatasetName):
        return None
    is_page = tiers.get(dataset) == PAGING_TIER
    return Finding(
        id=finding_id(FindingKind.CAPTURE, dataset, one.record.slo, one.id),
        kind=FindingKind.CAPTURE,
        rule=_REPORTS,
        dataset=dataset,
        since=one.time,
        ticket_since=one.time,
        page_since=one.time if is_page else None,
        notify_rule=_rule("its source is silent", is_page=is_page),
        reason=one.record.reason,
        source=f"{FindingKind.CAPTURE} {one.record.reason}",
    )


def tier_of(traits: Traits) -> int | None:
    """The tier that facets or tags give to a dataset: 1 is the most critical."""
    digits = traits.tier.strip().lower().removeprefix("tier").strip("-_ ")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < _MOST_DIGITS else None


def _rule(what: str, *, is_page: bool) -> str:
    return f"{what}, and the dataset {'is' if is_page else 'is not'} of tier {PAGING_TIER}"
