"""The forms of verdicts and reports, and where a verdict can be published."""

from enum import StrEnum

from whence.cli.output.streams import Exit
from whence.govern.gate.policy import Verdict


class Form(StrEnum):
    """A form of a verdict."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"
    GITLAB = "gitlab"
    RDJSON = "rdjson"


class Publish(StrEnum):
    """A forge that shows the verdict at its pull requests."""

    GITHUB = "github"
    GITLAB = "gitlab"


class Report(StrEnum):
    """A form of the report of `whence contract check`."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


def exit_of(verdict: Verdict) -> Exit:
    """The exit code of a verdict (docs/reference/gate.md)."""
    return _EXITS.get(verdict, Exit.OK)


_EXITS = {
    Verdict.APPROVAL_NEEDED: Exit.APPROVAL_NEEDED,
    Verdict.UNKNOWN: Exit.UNKNOWN,
    Verdict.BLOCKED: Exit.BLOCKED,
}
