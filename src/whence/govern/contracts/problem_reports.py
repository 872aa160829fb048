"""Mistakes in contracts as reports: lines of text, JSON, and SARIF 2.1.0."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from whence.govern.contracts.check import Checked, Problem

Json = dict[str, Any]

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_PAGE = "https://github.com/whence-lineage/whence"


def problem_lines(checked: Sequence[Checked]) -> list[str]:
    """A line for each mistake, `file:line: text`, and one that counts the files."""
    problems = [str(problem) for one in checked for problem in one.problems]
    valid, whole = (sum(one.count for one in some) for some in ([one for one in checked if not one.problems], checked))
    return [*problems, f"{valid:,} of {whole:,} contract{'s' * (whole != 1)} valid"]


def problem_document(checked: Sequence[Checked]) -> Json:
    """The files, each with its mistakes."""
    return {
        "contracts": [
            {
                "file": one.file,
                "standard": one.standard.version if one.standard else None,
                "valid": not one.problems,
                "problems": [{"line": it.line, "rule": it.rule, "text": it.text} for it in one.problems],
            }
            for one in checked
        ]
    }


def problem_sarif(checked: Sequence[Checked], version: str) -> Json:
    """A SARIF log with every mistake at its line."""
    problems = [problem for one in checked for problem in one.problems]
    rules = sorted({one.rule for one in problems})
    driver = {
        "name": "Whence contract",
        "version": version,
        "informationUri": _PAGE,
        "rules": [{"id": f"whence/contract-{one}"} for one in rules],
    }
    results = [_sarif_result(one, rules.index(one.rule)) for one in problems]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_result(one: Problem, rule: int) -> Json:
    place = {
        "artifactLocation": {"uri": quote(one.file, errors="replace"), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": one.line},
    }
    return {
        "ruleId": f"whence/contract-{one.rule}",
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": one.text},
        "locations": [{"physicalLocation": place}],
    }
