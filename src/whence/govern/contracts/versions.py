"""Versions of contracts (SemVer): how large the step from one to another is."""

import re
from enum import IntEnum

_VERSION = re.compile(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:[-+].*)?")


class Step(IntEnum):
    """A step between versions, or the one that a change needs."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3

    @property
    def text(self) -> str:
        """As people read it."""
        return ("no new version", "a new version", "a new minor version", "a new major version")[self]


def parse_version(text: str) -> tuple[int, int, int] | None:
    """Major, minor and patch; None if it is not such a version. Missing parts are 0."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        return None
    major, minor, patch = (int(part or 0) for part in found.groups())
    return major, minor, patch


def step_between(old: str, new: str) -> Step | None:
    """The step from one version to another: NONE if they are equal; None if it goes back, or one is no version."""
    if old == new:
        return Step.NONE
    before, after = parse_version(old), parse_version(new)
    if before is None or after is None or after < before:
        return None
    for at, step in enumerate((Step.MAJOR, Step.MINOR, Step.PATCH)):
        if after[at] != before[at]:
            return step
    return Step.PATCH  # only a suffix differs


def has_heading(note: str, version: str) -> bool:
    """Whether a migration note (Markdown) has a heading with the version."""
    pattern = rf"^#{{1,6}}\s(?:.*[^\w.])?v?{re.escape(version.removeprefix('v'))}(?:[^\w.].*|\.?)$"
    return re.search(pattern, note, re.MULTILINE) is not None
