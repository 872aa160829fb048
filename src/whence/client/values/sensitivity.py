"""Sensitivity labels and what policies say of them, and the results of searches, in answers: values."""

from collections.abc import Sequence
from typing import TypedDict

import msgspec

from whence.client.options import Time

MOST_FINDINGS = 100_000
"""The most findings of policies that a server sends."""


class SensitivityOptions(TypedDict, total=False):
    """`down`: where the data of the node goes, instead of what is in it. `tags` mark sensitive columns; by default
    those with words such as pii, phi, financial. `at_least`: the lowest grade to list (influenced, statistic, partial,
    pseudonymous, full). At a time, over at most this number of nodes.
    """

    down: bool
    tags: Sequence[str]
    at_least: str
    as_of: Time | None
    max_nodes: int


class SensitivityLabel(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the sensitive columns of a category a node shows at most (`grade`), and how much for certain.

    `path`: a shortest way from the sensitive column `source` to the node, both included; `steps`: for each step of it
    the expressions that make the value, or else their kind.
    """

    node: str
    category: str
    grade: str
    assumed: bool
    proven: str
    source: str
    path: tuple[str, ...]
    steps: tuple[str, ...] = ()


class SubjectOptions(TypedDict, total=False):
    """`tags` mark personal data; by default those with words such as pii, phi, financial. `at_least`: the lowest grade
    to list (influenced, statistic, partial, pseudonymous, full). At a time, over at most this number of nodes from each
    dataset.
    """

    tags: Sequence[str]
    at_least: str
    as_of: Time | None
    max_nodes: int


class PlaceOfPersonalData(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset with data of a person: how much of it (`grade`: the most), in which columns, and who has to do with it.

    `step`: when to erase it, after all earlier steps. `retention`: as its tag says it. `must_keep_days`: the shortest
    retention of what it holds, if its own is longer or not set. `hidden_readers`: jobs that you may not see.
    """

    step: int
    dataset: str
    grade: str
    columns: tuple[str, ...]
    labels: tuple[SensitivityLabel, ...]
    types: tuple[str, ...]
    owners: tuple[str, ...]
    tier: str | None
    retention: str | None
    must_keep_days: int | None
    last_written: str | None
    readers: tuple[str, ...]
    hidden_readers: int


class PolicyOptions(TypedDict, total=False):
    """`file`: the name that places in the text have. `declared`: judge also by the declared policies. `as_of`: the time
    of the lineage. `limit`: the most findings.
    """

    file: str
    declared: bool
    as_of: Time | None
    limit: int


class PolicyFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A node of which a policy does not hold (`violated`), or may not (`not evaluated`, with the reason `unknown`).

    `blocks`: it is violated, or not evaluated on a path to a certified dataset. `path`: the path that shows it.
    `place`: the file and line of the policy.
    """

    policy: str
    node: str
    outcome: str
    blocks: bool
    reason: str
    owner: str
    unknown: str | None
    path: tuple[str, ...]
    place: str


class PolicyEvaluation(msgspec.Struct, frozen=True, kw_only=True):
    """What policies say of all nodes that the key may see. `counts`: the nodes of each outcome, over all policies.

    `hidden`: nodes upstream that the key may not see. `complete`: whether all lineage was read. `idle`: policies that
    are about no node. `findings`: violations first, the first of `total`.
    """

    as_of: str | None
    outcome: str
    blocks: bool
    counts: dict[str, int]
    hidden: int
    complete: bool
    idle: tuple[str, ...]
    total: int
    findings: tuple[PolicyFinding, ...]


class ProposedEdge(msgspec.Struct, frozen=True, kw_only=True):
    """An edge that code would make: node ids, and the transformation as in an event."""

    source: str
    target: str
    type: str = "UNKNOWN"
    subtype: str = ""
    masking: bool = False
    description: str = ""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What code changes of the lineage. `gone`: sources and targets (node ids) whose edges no longer count; `edges`:
    all that it has instead.
    """

    gone: tuple[tuple[str, str], ...] = ()
    edges: tuple[ProposedEdge, ...] = ()


class PolicyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a server."""

    data: PolicyEvaluation


class FoundLabel(msgspec.Struct, frozen=True, kw_only=True):
    """A sensitivity label that the search asked for. `assumed`: it may be less."""

    category: str
    grade: str
    assumed: bool


class FoundNode(msgspec.Struct, frozen=True, kw_only=True):
    """A search result: its matching part is its `name`, a `tag`, its `owner` or `description`, or its `label`.

    `by` is `standing` if the search asked for certified or canonical datasets alone. `labels`: the sensitivity labels
    that the search asked for. `standings`: `certified`, `canonical`; a column has those of its dataset.
    """

    node: str
    kind: str
    by: str
    labels: tuple[FoundLabel, ...] = ()
    standings: tuple[str, ...] = ()
