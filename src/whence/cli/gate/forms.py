"""The forms of verdicts and reports, and where a verdict can be published."""

from enum import StrEnum


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


class Report(StrEnum):
    """A form of the report of `whence contract check`."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
