"""What a gate records of commits and promotions, as OpenLineage facets of registry datasets.

Members are JSON values as `whence gate --output json` writes them (docs/reference/gate.md). Nodes are node ids, or
`HIDDEN_NODE`. Lists are tuples.
"""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from whence.model.catalog import RegistryKind
from whence.model.names import DatasetName, JobName

VERDICT, APPROVAL, WAIVER = "whence_gateVerdict", "whence_gateApproval", "whence_gateWaiver"
PROMOTION = "whence_gatePromotion"
"""The facets' keys."""

VerdictText = Literal["pass", "note", "approval needed", "unknown", "blocked"]

HIDDEN_NODE = "(hidden)"
"""In the place of a node that the gate's key, or the reader, may not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonRecord:
    """A rule that a change fits, in the gate's own words, and the nodes that it is about."""

    rule: str
    text: str
    verdict: VerdictText
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverRecord:
    """Why a change may pass, until the end of which day (ISO 8601, UTC), and who says so."""

    reason: str = ""
    owner: str = ""
    expires: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRecord:
    """A judged change. `affected` counts nodes."""

    id: str
    node: str
    kind: str
    verdict: VerdictText
    before: str = ""
    after: str = ""
    reason: str = ""
    file: str = ""
    line: int = 0
    new_rows_only: bool = False
    why: tuple[ReasonRecord, ...] = ()
    waiver: WaiverRecord | None = None
    affected: int = 0
    incomplete: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedRecord:
    """A dataset or job downstream of changes: how the nearest one (by `path`, both ends included) affects it."""

    node: str
    kind: str
    by: str
    distance: int
    path: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    tier: int | None = None
    certified: bool = False
    contract: str | None = None
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredRecord:
    """An owner (None: nobody owns it, or it is hidden) whose approval some changes need, and who gave it."""

    owner: str | None = None
    people: tuple[str, ...] = ()
    approved_by: str | None = None
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleRecord:
    """An approval of another commit."""

    person: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredRecord:
    """A waiver that would fit, and is expired."""

    change: str
    expires: str
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """A verdict on a commit. `pull`: the address of the pull or merge request.

    `hidden…` count what the reader may not see; `more…` count what the record leaves out because there are too many.
    `unjudged`: the changed files of pipeline code that nothing judged.
    """

    verdict: VerdictText
    commit: str
    base: str | None = None
    pull: str = ""
    graph_version: str = ""
    changes: tuple[ChangeRecord, ...] = ()
    more_changes: int = 0
    affected: tuple[AffectedRecord, ...] = ()
    more: int = 0
    hidden: int = 0
    hidden_changes: int = 0
    hidden_notices: int = 0
    required_approvals: tuple[RequiredRecord, ...] = ()
    stale_approvals: tuple[StaleRecord, ...] = ()
    expired_waivers: tuple[ExpiredRecord, ...] = ()
    skipped: int = 0
    unjudged: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRecord:
    """A criterion that a promotion does not meet, in the gate's words, and the nodes that it is about."""

    criterion: str
    text: str
    verdict: VerdictText
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionRecord:
    """A verdict on the promotion of a dataset, a model or a job. `coverage`: from 0 to 1; None: not known."""

    verdict: VerdictText
    node: str
    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    coverage: float | None = None
    explained_columns: int = 0
    unexplained_columns: int = 0
    findings: tuple[FindingRecord, ...] = ()
    graph_version: str = ""


def promotion_dataset(node: DatasetName | JobName) -> DatasetName:
    """The registry dataset that stands for the promotion of a node, under the rules of the node's namespace."""
    return _dataset(RegistryKind.PROMOTION, node.namespace, str(node))


def verdict_dataset(repository: str, commit: str) -> DatasetName:
    """The registry dataset that stands for the verdict on a commit."""
    return _dataset(RegistryKind.VERDICT, repository, commit)


def approval_dataset(repository: str, commit: str, person: str) -> DatasetName:
    """The registry dataset that stands for a person's approval of a commit."""
    return _dataset(RegistryKind.APPROVAL, repository, commit, person)


def waiver_dataset(repository: str, change: str) -> DatasetName:
    """The registry dataset that stands for the waiver of a change."""
    return _dataset(RegistryKind.WAIVER, repository, change)


def keys_of(name: DatasetName) -> tuple[str, ...]:
    """The keys in the name of such a dataset, and its repository: the inverse of the functions above.

    >>> keys_of(approval_dataset("github.com/shop/pipeline", "f00d", "user:bob"))
    ('f00d', 'user:bob', 'github.com/shop/pipeline')
    """
    kind, _, rest = name.name.partition("/")
    *keys, repository = rest.split("/", RegistryKind(kind).keys)
    return (*map(unquote, keys), repository)


def _dataset(kind: RegistryKind, repository: str, *keys: str) -> DatasetName:
    return kind.dataset_of("/".join((*(quote(one, safe="", errors="surrogatepass") for one in keys), repository)))
