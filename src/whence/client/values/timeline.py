"""What happened over time, in answers: changes upstream of a node, and versions of a dataset."""

from collections.abc import Mapping

import msgspec

from whence.client.values.graph import AssertingEvent

_HAPPENED: Mapping[tuple[str, str], str] = {
    ("column", "added"): "is new",
    ("column", "removed"): "is gone",
    ("column", "changed"): "has another type",
    ("column", "renamed"): "has another name",
    ("schema", "added"): "has new columns",
    ("schema", "removed"): "lost columns",
    ("schema", "changed"): "has other columns",
    ("schema", "renamed"): "has other names of columns",
    ("lineage", "added"): "has new inputs",
    ("lineage", "removed"): "lost inputs",
    ("lineage", "changed"): "has other inputs",
    ("lineage", "renamed"): "was renamed",
    ("contract", "added"): "has a contract",
    ("contract", "removed"): "has no contract any more",
    ("contract", "changed"): "has another version of its contract",
    ("contract", "violated"): "began to violate its contract",
    ("contract", "fulfilled"): "no longer violates its contract",
    ("objective", "violated"): "began to miss an objective",
    ("objective", "fulfilled"): "meets its objective again",
    ("quality", "failed"): "began to fail a check",
    ("quality", "recovered"): "passes its check again",
    ("code", "changed"): "ran another version of its code",
    ("owners", "added"): "has an owner",
    ("owners", "removed"): "has no owner any more",
    ("owners", "changed"): "has other owners",
    ("run", "failed"): "began to fail",
    ("run", "recovered"): "completed again",
}
"""What a change means for its node, by kind and change. `column`: the schema of a single column."""


def describe_change(kind: str, change: str, node: str) -> str:
    """What a change of a kind means for its node: `has new inputs`."""
    is_column = kind == "schema" and node.startswith("datasetField:")
    return _HAPPENED.get(("column" if is_column else kind, change), change)


class ChangedPart(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that changed: a column, a check, a rule, a version, the state of a run; or an edge, from `end`."""

    change: str
    name: str | None
    end: str | None
    before: str | None
    after: str | None


class ChangeUpstream(msgspec.Struct, frozen=True, kw_only=True):
    """A change, `distance` hops upstream of the requested node (0: at the node itself).

    `kind`: schema, lineage, contract, objective, quality, run, code or owners. `job` and `run` brought it, `event`
    proves it; None: not known.
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


class DatasetVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a dataset. `run`: the run that made it, None if none is known; `run_state`: the state of that run.

    `has_new_data`: false if it has the rows of the one before. `lost`: how many versions before it had left the table's
    history.
    """

    version: str
    time: str
    run: str | None
    job: str | None
    run_state: str | None
    operation: str
    has_new_data: bool
    rows: int | None
    before: str
    user: str
    engine: str
    lost: int
