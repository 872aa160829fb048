"""A judgement as findings at places in files: SARIF 2.1.0, GitLab's code quality report, and reviewdog's rdjson."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from whence.govern.gate.judgement import JudgedChange, Judgement
from whence.govern.gate.policy import Verdict
from whence.govern.gate.rendering.names import changed_name, name_of, printable, shortened
from whence.model.changes import ChangeKind

Json = dict[str, Any]

_MOST_RESULTS = 5_000
"""GitHub shows no more results of one upload."""
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_PAGE = "https://github.com/whence-lineage/whence"
_SARIF = {Verdict.NOTE: "note", Verdict.APPROVAL_NEEDED: "warning", Verdict.UNKNOWN: "warning"}
_GITLAB = {Verdict.NOTE: "info", Verdict.APPROVAL_NEEDED: "major", Verdict.UNKNOWN: "major"}
_REVIEWDOG = {Verdict.NOTE: "INFO", Verdict.APPROVAL_NEEDED: "WARNING", Verdict.UNKNOWN: "WARNING"}


def sarif(judgement: Judgement, version: str) -> Json:
    """A SARIF 2.1.0 log. A finding is known again by its change, wherever the change stands."""
    rules = [
        {"id": _rule(kind), "name": kind.name.title().replace("_", ""), "shortDescription": {"text": _RULES[kind]}}
        for kind in ChangeKind
    ]
    driver = {"name": "Whence gate", "version": version, "informationUri": _PAGE, "rules": rules}
    results = [_sarif_result(one) for one in _findings(judgement)]
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def gitlab(judgement: Judgement) -> list[Json]:
    """GitLab's code quality report."""
    return [
        {
            "description": message(one),
            "check_name": _rule(one.change.kind),
            "fingerprint": one.id,
            "severity": _GITLAB.get(one.verdict, "blocker"),
            "location": {"path": one.change.file, "lines": {"begin": max(one.change.line, 1)}},
        }
        for one in _findings(judgement)
    ]


def rdjson(judgement: Judgement) -> Json:
    """The format of reviewdog."""
    return {
        "source": {"name": "whence gate", "url": _PAGE},
        "diagnostics": [
            {
                "message": message(one),
                "location": {
                    "path": one.change.file,
                    "range": {"start": {"line": max(one.change.line, 1), "column": 1}},
                },
                "severity": _REVIEWDOG.get(one.verdict, "ERROR"),
                "code": {"value": _rule(one.change.kind)},
            }
            for one in _findings(judgement)
        ],
    }


def message(one: JudgedChange) -> str:
    """What is found, in one line of plain text."""
    why = "; ".join(reason.text for reason in one.reasons)
    nearest = ", ".join(name_of(node.node) for node in one.impact.affected[:3])
    text = f"{one.change.kind}: {changed_name(one.change)} ({one.verdict.text}): {why}"
    return printable(shortened(f"{text}. Affected: {nearest}" if nearest else text, 900))


def _findings(judgement: Judgement) -> Iterator[JudgedChange]:
    """The changes that are worth a line and have a place, the worst first."""
    placed = [one for one in judgement.changes if one.verdict is not Verdict.PASS and one.change.file]
    yield from placed[:_MOST_RESULTS]


def _sarif_result(one: JudgedChange) -> Json:
    place = {"artifactLocation": {"uri": quote(one.change.file, errors="replace"), "uriBaseId": "%SRCROOT%"}}
    region = {"region": {"startLine": max(one.change.line, 1)}}
    return {
        "ruleId": _rule(one.change.kind),
        "ruleIndex": list(ChangeKind).index(one.change.kind),
        "level": _SARIF.get(one.verdict, "error"),
        "message": {"text": message(one)},
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
    ChangeKind.ORDER: "A dataset has its rows in another order",
    ChangeKind.ADDED: "A column is new",
    ChangeKind.METADATA: "A description, a tag or a test changes",
    ChangeKind.CONTRACT: "A data contract changes",
    ChangeKind.BROKEN_REFERENCE: "A table or column that is read does not exist",
    ChangeKind.UNKNOWN: "What changes could not be found out",
}
