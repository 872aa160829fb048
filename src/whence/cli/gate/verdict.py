"""`whence gate`: judge a head, and write the verdict in every form that is asked for."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from whence import __version__
from whence.cli.answers.ask import Questions
from whence.cli.gate.dbt_code import DbtTargets, compare_dbt
from whence.cli.gate.forms import Form, Publish
from whence.cli.gate.github import GitHub, github_of
from whence.cli.gate.heads import Change, Compared, change_between, compare_job_code, rules_at_base
from whence.cli.gate.production import AskedProduction
from whence.cli.gate.sql_code import SqlFolder, compare_sql
from whence.cli.output.streams import Exit
from whence.errors import ArtifactError
from whence.govern.gate.impact import Assessment
from whence.govern.gate.judge import judge
from whence.govern.gate.judgement import Approval, Judgement
from whence.govern.gate.policy import Rules, Verdict
from whence.govern.gate.policy_file import read_rules
from whence.govern.gate.project import Project
from whence.govern.gate.rendering.documents import judgement_document
from whence.govern.gate.rendering.findings import gitlab, rdjson, sarif
from whence.govern.gate.rendering.markdown import markdown
from whence.govern.gate.rendering.summary import Summary, summarize
from whence.govern.gate.rendering.text import text_lines
from whence.govern.gate.walk import assess


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A judgement and its summary, from which every form is made, and what was judged by which rules."""

    judgement: Judgement
    summary: Summary
    assessment: Assessment
    rules: Rules


def written(judged: Judged, form: Form) -> str:
    """The verdict in one form, with a line end."""
    return _FORMS[form](judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be judged, as it was said at the terminal; empty: the default."""

    folder: Path
    base: str = ""
    head: str = ""
    authors: tuple[str, ...] = ()
    rules: str = ""
    sql: SqlFolder | None = None
    dbt: DbtTargets | None = None


def publish_to(forge: Publish | None) -> GitHub | None:
    """The pull request to which a verdict goes. Raises ArtifactError, ApiError."""
    return None if forge is None else github_of()


def judge_head(wanted: Wanted, questions: Questions, pull: GitHub | None, approvals: Path | None) -> Judged:
    """Judge a head, of a pull request if there is one. Raises as `judge_change` does, and ArtifactError."""
    given = read_approvals(approvals) if approvals else ()
    if pull is not None:
        base, head = wanted.base or pull.pull.base, wanted.head or pull.pull.head
        wanted = replace(wanted, base=base, head=head, authors=(*wanted.authors, pull.pull.author))
        given += pull.approvals()
    change = change_between(wanted.folder, wanted.base or "origin/HEAD", wanted.head or "HEAD", wanted.authors)
    return judge_change(change, _compare(change, wanted, questions), questions, given, wanted.rules)


def _compare(change: Change, wanted: Wanted, questions: Questions) -> Compared:
    """What is read of the head, and for the rest of its code that anything may change."""
    read, rest = [], change
    if wanted.sql is not None:
        read.append(compare_sql(change, wanted.sql))
        rest = _without(rest, wanted.sql.has)
    if wanted.dbt is not None:
        read.append(compare_dbt(wanted.dbt))
        rest = _without(rest, wanted.dbt.has)
    return _together([*read, compare_job_code(rest, questions)])


def _without(change: Change, is_read: Callable[[str], bool]) -> Change:
    return replace(change, files=tuple(one for one in change.files if not is_read(one)))


def _together(parts: Sequence[Compared]) -> Compared:
    return Compared(
        changes=tuple(one for part in parts for one in part.changes),
        project=Project(
            base=tuple(edge for part in parts for edge in part.project.base),
            head=tuple(edge for part in parts for edge in part.project.head),
        ),
        notices=tuple(one for part in parts for one in part.notices),
    )


def judge_change(
    change: Change, compared: Compared, questions: Questions, approvals: Sequence[Approval], rules: str = ""
) -> Judged:
    """Judge what a head changes by the rules of its base. `rules`: where these are in the repository.

    Raises RulesFileError for a mistake in the rules, and what `questions` raises: then there is no verdict.
    """
    rulebook = rules_at_base(change, rules)
    read = read_rules(rulebook.text, rulebook.place)
    assessment = assess(compared.changes, AskedProduction(questions=questions), compared.project)
    judgement = judge(
        assessment,
        read,
        change.head,
        approvals,
        now=time.time_ns() // 1_000,
        notices=(*rulebook.notices, *compared.notices),
    )
    summary = summarize(judgement, assessment.facts)
    return Judged(judgement=judgement, summary=summary, assessment=assessment, rules=read)


def read_approvals(path: Path) -> tuple[Approval, ...]:
    """Approvals from a JSON file: `[{"person": …, "commit": …}]`. Raises ArtifactError."""
    try:
        entries = msgspec.json.decode(path.read_bytes(), type=list[dict[str, str]])
        return tuple(Approval(person=one["person"], commit=one["commit"]) for one in entries)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
        raise ArtifactError(str(path), f'it has no list of {{"person": …, "commit": …}}: {error}') from None


def exit_of(verdict: Verdict) -> Exit:
    """The exit code of a verdict (docs/reference/gate.md)."""
    return _EXITS.get(verdict, Exit.OK)


_EXITS = {
    Verdict.APPROVAL_NEEDED: Exit.APPROVAL_NEEDED,
    Verdict.UNKNOWN: Exit.UNKNOWN,
    Verdict.BLOCKED: Exit.BLOCKED,
}


def _json(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"


_FORMS: Mapping[Form, Callable[[Judged], str]] = {
    Form.TEXT: lambda one: "\n".join(text_lines(one.judgement, one.summary)) + "\n",
    Form.JSON: lambda one: _json(judgement_document(one.judgement, one.summary)),
    Form.MARKDOWN: lambda one: markdown(one.judgement, one.summary),
    Form.SARIF: lambda one: _json(sarif(one.judgement, __version__)),
    Form.GITLAB: lambda one: _json(gitlab(one.judgement)),
    Form.RDJSON: lambda one: _json(rdjson(one.judgement)),
}
