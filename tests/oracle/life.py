"""The life of a dataset: what an event's lifecycleStateChange facets mean (state.md, "Life of a dataset")."""

from typing import Any

from oracle.lineage import Edge, Sets
from oracle.nodes import Node

Json = dict[str, Any]
DEFINING = {"ALTER", "CREATE", "TRUNCATE"}
WORDS = DEFINING | {"DROP", "OVERWRITE", "RENAME"}


class Mention:
    """A dataset as one place of an event speaks of it: its change, its name before, its columns and other names."""

    def __init__(
        self, node: Node, facet: Json | None, before: Node | None, columns: set[str], others: set[Node]
    ) -> None:
        word = facet.get("lifecycleStateChange") if facet else None
        self.node, self.columns, self.others = node, columns, others
        self.change = word if isinstance(word, str) and word in WORDS else ""
        self.before = before if self.change == "RENAME" and before != node else None


def unwritten(mentions: list[Mention], has_inputs: bool, with_columns: set[Node]) -> set[Node]:
    """The outputs that get no data."""
    never = {one.node for one in mentions if one.change in ("DROP", "RENAME")}
    defined = {one.node for one in mentions if one.change in DEFINING}
    return never | (set() if has_inputs else defined - with_columns)


def life_sets(mentions: list[Mention]) -> Sets:
    """The sets by which an event renames and drops."""
    sets: Sets = set()
    renames = {(one.before, one.node) for one in mentions if one.before}
    for new in {new for _, new in renames}:
        columns = {column for one in mentions if one.node == new for column in one.columns}
        olds = {old for old, its in renames if its == new and old}
        whole: set[Edge] = {(old, new, "DIRECT", "", "", "") for old in olds}
        fine: set[Edge] = {
            (("field", *old[1:], column), ("field", *new[1:], column), "DIRECT", "IDENTITY", "", "")
            for old in olds
            for column in columns
        }
        sets.add((new, "dataset", "renamed", frozenset(whole)))
        if fine:
            sets.add((new, "field", "renamed", frozenset(fine)))
    lives = {one.node for one in mentions if one.change != "DROP"}
    ended = {old for old, new in renames if old and old not in lives and old[1] == new[1]}
    dropped = [one for one in mentions if one.change == "DROP"]
    ended |= {name for one in dropped for name in {one.node, *one.others} if name[1] == one.node[1]}
    return sets | {(one, "dataset", "dropped", frozenset()) for one in ended}
