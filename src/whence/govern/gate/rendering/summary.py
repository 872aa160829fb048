"""What every form of a judgement begins with: the verdict in one line, and the nodes that matter most."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whence.govern.gate.impact import Affected, Assessment, Facts, Reach, is_hidden, subject_of
from whence.govern.gate.judgement import Judgement
from whence.govern.gate.policy import Verdict
from whence.model.names import DatasetName, JobName, Node

LEADING_TYPES = ("DASHBOARD", "REPORT", "MODEL")
NOT_JUDGED = "it is no known job's code, and --sql and --dbt do not read it, or cannot"
"""Why a file of pipeline code is not judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A dataset or job that at least one change affects: the surest and shortest way, and by which changes."""

    subject: DatasetName | JobName
    facts: Facts
    nearest: Affected
    changes: tuple[str, ...]

    @property
    def kind(self) -> str:
        """What it is, in lower case: dashboard, model, certified dataset, dataset, job."""
        leading = [one for one in LEADING_TYPES if one in self.facts.types]
        if leading:
            return leading[0].lower()
        if self.facts.certified:
            return "certified dataset"
        return "job" if isinstance(self.subject, JobName) else "dataset"

    @property
    def leads(self) -> bool:
        """Whether a reviewer must see it first."""
        return self.kind not in ("dataset", "job") or self.facts.tier == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """All that a judgement's changes affect, those that lead first; `hidden`: how many more have no name here."""

    hits: tuple[Hit, ...]
    hidden: int

    @property
    def leading(self) -> tuple[Hit, ...]:
        """Dashboards, models, certified datasets and those of tier 1."""
        return tuple(one for one in self.hits if one.leads)


def summarize(judgement: Judgement, facts: Mapping[Node, Facts]) -> Summary:
    """What the judged changes affect, each dataset and job once."""
    known = Assessment(changes=(), facts=facts)
    found: dict[DatasetName | JobName, Hit] = {}
    for change in judgement.changes:
        for one in () if change.is_unconfirmed_pass else change.impact.affected:
            subject = subject_of(one.node)
            before = found.get(subject)
            nearest = one if before is None else min(before.nearest, one, key=_sureness)
            changes = dict.fromkeys((*(before.changes if before else ()), change.id))
            found[subject] = Hit(
                subject=subject, facts=known.facts_of(subject), nearest=nearest, changes=tuple(changes)
            )
    named = [one for one in found.values() if not is_hidden(one.subject)]
    hits = tuple(sorted(named, key=_importance))
    return Summary(hits=hits, hidden=len(found) - len(named))


def headline(judgement: Judgement, summary: Summary) -> str:
    """The verdict in one line. It has no names."""
    text, files = judgement.verdict.text, judgement.unjudged.files
    if judgement.verdict is Verdict.PASS:
        unconfirmed = sum(one.is_unconfirmed_pass for one in judgement.changes)
        beside = f" ({number(unconfirmed, 'change')} of code not confirmed)" if unconfirmed else ""
        return f"{text}: nothing that others rely on changes{beside}"
    parts = [f"{number(len(files), 'changed file')} not judged"] if files else []
    changes = sum(one.verdict is not Verdict.PASS for one in judgement.changes)
    if changes or not files:
        parts.append(_affected(changes, summary))
    return f"{text}: {'; '.join(parts)}"


def _affected(changes: int, summary: Summary) -> str:
    leading = list(_counted(summary))
    count = len(summary.hits) + summary.hidden
    rest = ", ".join(leading) or f"{count:,} downstream node{'' if count == 1 else 's'}"
    return f"{number(changes, 'change')}, {rest} affected"


def number(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _counted(summary: Summary) -> Iterator[str]:
    counts: dict[str, int] = {}
    for one in summary.leading:
        counts[one.kind] = counts.get(one.kind, 0) + 1
    return (number(count, noun) for noun, count in counts.items())


def _importance(hit: Hit) -> tuple[int, int, int, str]:
    kinds = ("dashboard", "report", "model", "certified dataset")
    rank = kinds.index(hit.kind) if hit.kind in kinds else len(kinds)
    return (rank, hit.facts.tier or 9, hit.nearest.distance, str(hit.subject))


def _sureness(one: Affected) -> tuple[Reach, int, str]:
    return (one.reach, one.distance, str(one.node))
