"""What is known of datasets and jobs, their owners and columns: values of answers."""

from typing import Any

import msgspec


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """An owner of a dataset or job."""

    name: str
    role: str


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """A tag of a dataset or job, or of one of its columns (`field`)."""

    key: str
    value: str
    field: str | None = None


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is asserted of a dataset or job. `types`: what it says that it is (VIEW, DASHBOARD).

    `certification`: tags by hand; `certification_status`: what rules of certification say, None without one.
    """

    node: str
    types: tuple[str, ...]
    owners: tuple[Owner, ...]
    certification: tuple[str, ...]
    tier: int | None
    contract_version: str | None = None
    certification_status: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[Tag, ...] = ()


class KnownField(msgspec.Struct, frozen=True):
    """A column in a schema."""

    name: str
    type: str | None = None


class KnownFields(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a dataset."""

    fields: tuple[KnownField, ...]


class DatasetEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question about one dataset."""

    data: KnownFields


class KnownJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job, what it writes, and its facets."""

    node: str
    outputs: tuple[str, ...]
    facets: dict[str, Any]


class JobsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some jobs, and where the next ones are."""

    data: tuple[KnownJob, ...]
    page: dict[str, Any] | None


class FactsPage(msgspec.Struct, frozen=True, kw_only=True):
    """What is asserted of several nodes."""

    data: tuple[NodeFacts, ...]
