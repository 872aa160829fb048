"""`whence gate`: judge a head, and write the verdict in every form that is asked for."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from whence import __version__
from whence.capture.sql.trials.execution import INSTALL
from whence.cli.answers.ask import Questions
from whence.cli.gate.contracts.code import announced_datasets, review_contracts, with_promised_columns
from whence.cli.gate.contracts.files import is_contract_name
from whence.cli.gate.contracts.review import Naming
from whence.cli.gate.dbt_code import DbtTargets, compare_dbt
from whence.cli.gate.forges.forge import Published
from whence.cli.gate.forges.github import github_of
from whence.cli.gate.forges.gitlab import gitlab_of
from whence.cli.gate.forms import Form, Publish
from whence.cli.gate.heads import Change, Compared, change_between, compare_job_code, rules_at_base
from whence.cli.gate.policies import judge_policies
from whence.cli.gate.production import QueriedProduction
from whence.cli.gate.records import NO_SERVER, Declared, add_waivers, read_declared, record_verdict
from whence.cli.gate.run_events import NO_RUNS, HeadRuns
from whence.cli.gate.sql_code import SqlFolder, compare_sql
from whence.client.questions import Client
from whence.errors import ArtifactError
from whence.govern.gate.code.job_code import address_of
from whence.govern.gate.impact import Assessment
from whence.govern.gate.judge import judge
from whence.govern.gate.judgement import Approval, Judgement
from whence.govern.gate.policy import Rules
from whence.govern.gate.policy_file import read_rules
from whence.govern.gate.project import Project
from whence.govern.gate.rendering.documents import judgement_document, without_trials
from whence.govern.gate.rendering.findings import gitlab, rdjson, sarif
from whence.govern.gate.rendering.markdown import markdown
from whence.govern.gate.rendering.summary import Summary, summarize
from whence.govern.gate.rendering.text import text_lines
from whence.govern.gate.walk import assess

_PROGRAMS = (".py", ".scala", ".java", ".ipynb", ".r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judgement and its summary, from which every form is made, and what was judged by which rules.

    `repository`: its name in records; `link`: the address of the verdict's page, once it is recorded.
    """

    judgement: Judgement
    summary: Summary
    assessment: Assessment
    rules: Rules
    repository: str = ""
    link: str = ""


def record_judged(judged: Judged, questions: Questions, pull: Published | None) -> Judged:
    """The same with a link, if the server records it. The verdict on a pull request from a fork is not recorded.

    Raises ArtifactError if there is no server, or the repository has no name.
    """
    if not isinstance(questions, Client):
        raise ArtifactError("--record", NO_SERVER)
    if not judged.repository:
        raise ArtifactError("--record", "the checkout has no remote `origin`: name it with --repository-name")
    if pull is not None and pull.pull.is_fork:
        return judged
    document = without_trials(judgement_document(judged.judgement, judged.summary))
    return replace(judged, link=record_verdict(questions, judged.repository, document, pull.pull.url if pull else ""))


def written(judged: Judged, form: Form) -> str:
    """The verdict in one form, with a line end."""
    return _FORMS[form](judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be judged, as it was said at the terminal; empty: the default.

    `repository`: its name in records, such as `github.com/shop/pipeline`; by default the address of `origin`.
    """

    folder: Path
    base: str = ""
    head: str = ""
    authors: tuple[str, ...] = ()
    rules: str = ""
    policies: str = ""
    sql: SqlFolder | None = None
    dbt: DbtTargets | None = None
    runs: HeadRuns = NO_RUNS
    repository: str = ""

    @property
    def naming(self) -> Naming:
        """How contracts name their datasets: tables without a server are where the SQL's are."""
        of_sql, of_dbt = (one.namespace if one else "" for one in (self.sql, self.dbt))
        return Naming(namespace=of_sql or of_dbt)


def publish_to(forge: Publish | None) -> Published | None:
    """The pull request to which a verdict goes. Raises ArtifactError, ApiError."""
    match forge:
        case Publish.GITHUB:
            return github_of()
        case Publish.GITLAB:
            return gitlab_of()
        case None:
            return None


def judge_head(wanted: Wanted, questions: Questions, pull: Published | None, approvals: Path | None) -> Judged:
    """Judge a head, of a pull request if there is one. Raises as `judge_change` does, and ArtifactError."""
    given, reviewed = read_approvals(approvals) if approvals else (), ""
    if pull is not None:
        base, head = wanted.base or pull.pull.base, wanted.head or pull.pull.judged
        wanted = replace(wanted, base=base, head=head, authors=(*wanted.authors, pull.pull.author))
        given += pull.approvals()
        reviewed = pull.pull.head if pull.pull.merged else ""
    base, head = wanted.base or "origin/HEAD", wanted.head or "HEAD"
    change = change_between(wanted.folder, base, head, wanted.authors, reviewed=reviewed)
    repository = wanted.repository or address_of(change.repository.remote())
    declared = read_declared(questions, repository, change.head, given)
    code = _without(change, is_contract_name)
    judged = judge_change(change, _compare(code, wanted, questions), questions, declared, wanted)
    return replace(judged, repository=repository)


def _compare(change: Change, wanted: Wanted, questions: Questions) -> Compared:
    """What is read of the head, and for the rest of its code that anything may change."""
    read, rest = [], change
    if wanted.sql is not None:
        read.append(compare_sql(change, wanted.sql))
        rest = _without(rest, wanted.sql.has)
    if wanted.dbt is not None:
        read.append(compare_dbt(wanted.dbt, questions))
        rest = _without(rest, wanted.dbt.has)
    return _together([*read, compare_job_code(rest, questions, wanted.runs)])


def _without(change: Change, is_read: Callable[[str], bool]) -> Change:
    return replace(change, files=tuple(one for one in change.files if not is_read(one)))


def _together(parts: Sequence[Compared]) -> Compared:
    return Compared(
        changes=tuple(one for part in parts for one in part.changes),
        project=Project(
            base=tuple(edge for part in parts for edge in part.project.base),
            head=tuple(edge for part in parts for edge in part.project.head),
            base_lineage=tuple(edge for part in parts for edge in part.project.base_lineage),
            head_lineage=tuple(edge for part in parts for edge in part.project.head_lineage),
        ),
        unread=tuple(one for part in parts for one in part.unread),
    )


def judge_change(
    change: Change, compared: Compared, questions: Questions, declared: Declared, wanted: Wanted
) -> Judged:
    """Judge what a head changes, its contracts among that, by the rules of its base.

    Raises RulesFileError for a mistake in the rules, and what `questions` raises: then there is no verdict.
    """
    rulebook = rules_at_base(change, wanted.rules)
    read = add_waivers(read_rules(rulebook.text, rulebook.place), declared.waivers)
    contracts = review_contracts(change, wanted.naming, questions, read.readers_within_days)
    assessed = assess(compared.changes, QueriedProduction(questions=questions), compared.project)
    assessment = replace(with_promised_columns(assessed, questions), announced=announced_datasets(contracts))
    policies = judge_policies(change, compared.project.proposal, compared.changes, questions, read, wanted.policies)
    judgement = judge(
        assessment,
        read,
        change.head,
        declared.approvals,
        now=time.time_ns() // 1_000,
        notices=(
            *rulebook.notices,
            *policies.notices,
            *declared.notices,
            *_unknown_code(compared.unread, read),
            *(f"not judged: {one} is a submodule" for one in change.submodules),
            *_without_trials(compared),
        ),
        contracts=contracts,
        policies=policies.cases,
        unread=compared.unread,
    )
    summary = summarize(judgement, assessment.facts)
    return Judged(judgement=judgement, summary=summary, assessment=assessment, rules=read)


def _without_trials(compared: Compared) -> Iterator[str]:
    if any(one.trial is not None and one.trial.untried == INSTALL for one in compared.changes):
        yield f"changes were not executed: {INSTALL}"


def _unknown_code(unread: Sequence[str], rules: Rules) -> Iterator[str]:
    """Of programs that may be a job's code, and are none that production knows."""
    programs = (one for one in unread if one.endswith(_PROGRAMS) and not rules.must_judge(one))
    return (f"not judged: {one} is the code of no known job" for one in programs)


def read_approvals(path: Path) -> tuple[Approval, ...]:
    """Approvals from a JSON file: `[{"person": …, "commit": …}]`. Raises ArtifactError."""
    try:
        entries = msgspec.json.decode(path.read_bytes(), type=list[dict[str, str]])
        return tuple(Approval(person=one["person"], commit=one["commit"]) for one in entries)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
        raise ArtifactError(str(path), f'it has no list of {{"person": …, "commit": …}}: {error}') from None


def _json(document: object) -> str:
    return msgspec.json.format(json.dumps(document), indent=2) + "\n"


_FORMS: Mapping[Form, Callable[[Judged], str]] = {
    Form.TEXT: lambda one: (
        "\n".join((*text_lines(one.judgement, one.summary), *([one.link] if one.link else []))) + "\n"
    ),
    Form.JSON: lambda one: _json(judgement_document(one.judgement, one.summary) | {"link": one.link or None}),
    Form.MARKDOWN: lambda one: markdown(one.judgement, one.summary, one.link),
    Form.SARIF: lambda one: _json(sarif(one.judgement, __version__)),
    Form.GITLAB: lambda one: _json(gitlab(one.judgement)),
    Form.RDJSON: lambda one: _json(rdjson(one.judgement)),
}
