"""A judgement as findings at places in files: SARIF 2.1.0, GitLab's code quality report, and reviewdog's rdjson."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from whence.govern.gate.judgement import JudgedChange, Judgement
from whence.govern.gate.policy import Verdict
from whence.govern.gate.rendering.names import Names, code, names_of, printable, shortened
from whence.govern.gate.rendering.summary import NOT_JUDGED
from whence.model.changes import ChangeKind, shown_trial

Json = dict[str, Any]

_MOST_RESULTS = 5_000
"""GitHub shows no more results of one upload."""
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_PAGE = "https://github.com/whence-lineage/whence"
_SARIF = {Verdict.NOTE: "note", Verdict.APPROVAL_NEEDED: "warning", Verdict.UNKNOWN: "warning"}
_GITLAB = {Verdict.NOTE: "info", Verdict.APPROVAL_NEEDED: "major", Verdict.UNKNOWN: "major"}
_REVIEWDOG = {Verdict.NOTE: "INFO", Verdict.APPROVAL_NEEDED: "WARNING", Verdict.UNKNOWN: "WARNING"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A place in a file that is worth a line: a change, or a file that nothing judged. `line` 0: the whole file.

    `message` is plain text; `markdown` is the same with all names in code spans.
    """

    id: str
    rule: str
    title: str
    message: str
    markdown: str
    verdict: Verdict
    file: str
    line: int = 0


def findings_of(judgement: Judgement) -> Sequence[Finding]:
    """The changes that are worth a line and have a place, the worst first, and the files that nothing judged."""
    unjudged, names = judgement.unjudged, names_of(judgement)
    found = [_of_change(one, names) for one in judgement.changes if one.verdict is not Verdict.PASS and one.change.file]
    found += [_of_file(file, unjudged.verdict) for file in unjudged.files if unjudged.verdict is not Verdict.PASS]
    return sorted(found, key=lambda one: -one.verdict)


def sarif(judgement: Judgement, version: str) -> Json:
    """A SARIF 2.1.0 log. A finding is known again by its change, wherever the change stands."""
    rules = [{"id": id_, "name": name, "shortDescription": {"text": text}} for id_, name, text in _SARIF_RULES]
    driver = {"name": "Whence gate", "version": version, "informationUri": _PAGE, "rules": rules}
    results = [_sarif_result(one) for one in findings_of(judgement)[:_MOST_RESULTS]]
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def gitlab(judgement: Judgement) -> list[Json]:
    """GitLab's code quality report."""
    return [
        {
            "description": one.message,
            "check_name": one.rule,
            "fingerprint": one.id,
            "severity": _GITLAB.get(one.verdict, "blocker"),
            "location": {"path": one.file, "lines": {"begin": max(one.line, 1)}},
        }
        for one in findings_of(judgement)[:_MOST_RESULTS]
    ]


def rdjson(judgement: Judgement) -> Json:
    """The format of reviewdog, which posts messages as Markdown."""
    return {
        "source": {"name": "whence gate", "url": _PAGE},
        "diagnostics": [
            {
                "message": one.markdown,
                "location": {"path": one.file, "range": {"start": {"line": max(one.line, 1), "column": 1}}},
                "severity": _REVIEWDOG.get(one.verdict, "ERROR"),
                "code": {"value": one.rule},
            }
            for one in findings_of(judgement)[:_MOST_RESULTS]
        ],
    }


def _of_change(one: JudgedChange, names: Names) -> Finding:
    change = one.change
    return Finding(
        id=one.id,
        rule=_rule(change.kind),
        title=f"{change.kind} ({one.id})",
        message=printable(shortened(_message(one, names, str), 900)),
        markdown=_message(one, names, code),
        verdict=one.verdict,
        file=change.file,
        line=change.line,
    )


def _of_file(file: str, verdict: Verdict) -> Finding:
    id_ = f"F-{sha256(file.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"
    message = f"not judged ({verdict.text}): {NOT_JUDGED}"
    return Finding(
        id=id_,
        rule=_NOT_JUDGED_RULE,
        title="not judged",
        message=message,
        markdown=message,
        verdict=verdict,
        file=file,
    )


def _message(one: JudgedChange, names: Names, show: Callable[[str], str]) -> str:
    """What is found, in one line. `show`: how foreign text is written."""
    paths = [show(one.change.reason)] if one.change.kind is ChangeKind.POLICY else []
    paths += [show(trial)] if (trial := shown_trial(one.change)) else []
    why = "; ".join((*(reason.text for reason in one.reasons), *paths))
    nearest = ", ".join(show(names.of(node.node)) for node in one.impact.affected[:3])
    text = f"{one.change.kind}: {show(names.of_change(one.change))} ({one.verdict.text}): {why}"
    return f"{text}. Affected: {nearest}" if nearest else text


def _sarif_result(one: Finding) -> Json:
    place = {"artifactLocation": {"uri": quote(one.file, errors="replace"), "uriBaseId": "%SRCROOT%"}}
    region = {"region": {"startLine": max(one.line, 1)}}
    return {
        "ruleId": one.rule,
        "ruleIndex": [id_ for id_, _, _ in _SARIF_RULES].index(one.rule),
        "level": _SARIF.get(one.verdict, "error"),
        "message": {"text": one.message},
        "locations": [{"physicalLocation": {**place, **region}}],
        "partialFingerprints": {"whenceChange/v1": one.id},
    }


def _rule(kind: ChangeKind) -> str:
    return f"whence/{kind.value.replace(' ', '-')}"


_RULES = {
    ChangeKind.REMOVED: "A column or dataset is removed",
    ChangeKind.RENAMED: "A column has another name",
    ChangeKind.TYPE: "A column has another type",
    ChangeKind.VALUES: "A column has other values",
    ChangeKind.ROWS: "A dataset has other rows",
    ChangeKind.NOT_CONFIRMED: "The code differs, and executing both versions showed no difference",
    ChangeKind.ORDER: "A dataset has its rows in another order",
    ChangeKind.ADDED: "A column is new",
    ChangeKind.METADATA: "A description, a tag or a test changes",
    ChangeKind.CONTRACT: "A data contract changes",
    ChangeKind.BROKEN_REFERENCE: "A table or column that is read does not exist",
    ChangeKind.POLICY: "A policy does not hold",
    ChangeKind.UNKNOWN: "What changes could not be found out",
}

_NOT_JUDGED_RULE = "whence/not-judged"
_SARIF_RULES = (
    *((_rule(kind), kind.name.title().replace("_", ""), _RULES[kind]) for kind in ChangeKind),
    (_NOT_JUDGED_RULE, "NotJudged", "Pipeline code changes, and nothing judges it"),
)
