"""Changes upstream of a node in answers: values."""

import msgspec

from whence.client.values import AssertingEvent


class ChangedPart(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that changed: a column, a check, a rule, a version, the state of a run; or an edge, from `end`."""

    change: str
    name: str | None
    end: str | None
    before: str | None
    after: str | None


class ChangeUpstream(msgspec.Struct, frozen=True, kw_only=True):
    """A change, `distance` hops upstream of the requested node (0: at the node itself).

    `kind`: schema, lineage, contract, quality or run. `job` and `run` brought it, `event` proves it; None: not known.
    """

    time: str
    kind: str
    change: str
    node: str
    distance: int
    parts: tuple[ChangedPart, ...]
    job: str | None
    run: str | None
    event: AssertingEvent | None


class ChangesNotKnown(msgspec.Struct, frozen=True, kw_only=True):
    """Why changes may be missing: at how many nodes (0: it is not about nodes), and the nearest of them."""

    reason: str
    total: int
    nodes: tuple[str, ...]
