"""The forms of a verdict, and where it can be published."""

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
