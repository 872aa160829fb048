"""Measurements and checks: values of answers."""

import msgspec


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """A number that a run or a dataset event (`run` is None) reported of a dataset or of one of its columns; or the
    `duration` of a run in seconds.
    """

    time: str
    dataset: str | None
    column: str | None
    facet: str | None
    role: str | None
    metric: str
    value: int | float
    run: str | None
    job: str | None


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found of an assertion on a dataset or on one of its columns. `severity` `warn` is not an error."""

    time: str
    dataset: str
    assertion: str
    column: str | None
    held: bool
    severity: str | None
    expected: str | None
    actual: str | None
    failures: int | None
    run: str | None
    job: str | None


class KnownCheck(msgspec.Struct, frozen=True, kw_only=True):
    """An assertion about a dataset or one of its columns, and its latest result. `severity` `warn` is not an error."""

    assertion: str
    held: bool
    column: str | None = None
    severity: str | None = None
    expected: str | None = None
    actual: str | None = None
    failures: int | None = None


class CheckedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """The checks of a dataset in the latest run of one job that checks it."""

    dataset: str
    run: str
    job: str
    time: str
    checks: tuple[KnownCheck, ...]


class ChecksPage(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question about checks."""

    data: tuple[CheckedDataset, ...]
