"""Changes between two versions of a contract, as values: what each is, for whom it is one, and what it needs."""

from dataclasses import dataclass
from enum import StrEnum

from whence.govern.contracts.contract import Rule, ServiceLevel
from whence.model.names import DatasetName


class Side(StrEnum):
    """For whom a change of a contract is one (act.md 3.2; docs/reference/contracts.md)."""

    READERS = "readers"
    """They may fail, or get what they do not expect."""
    PRODUCERS = "producers"
    """They promise more than before."""
    SERVICE = "service"
    """A service level or a quality rule promises less; nothing that is read has another form."""
    LIFECYCLE = "lifecycle"
    """The contract is deprecated, or retired."""
    OWNERSHIP = "ownership"
    ADDITION = "addition"
    """There is more to read."""
    METADATA = "metadata"


class Kind(StrEnum):
    """What a change of a contract is."""

    TABLE_REMOVED = "table removed"
    TABLE_ADDED = "table added"
    REMOVED = "removed"
    RENAMED = "renamed"
    ADDED = "added"
    TYPE = "type"
    PHYSICAL_TYPE = "physical type"
    OPTIONS_LOOSENED = "range loosened"
    OPTIONS_TIGHTENED = "range tightened"
    OPTIONAL = "no longer required"
    REQUIRED = "required"
    NOT_UNIQUE = "no longer unique"
    UNIQUE = "unique"
    VALUES_ADDED = "values added"
    VALUES_REMOVED = "values removed"
    RULE_TIGHTENED = "rule tightened"
    RULE_LOOSENED = "rule loosened"
    SERVICE_LOOSENED = "service loosened"
    SERVICE_TIGHTENED = "service tightened"
    DEPRECATED = "deprecated"
    RETIRED = "retired"
    REVIVED = "active again"
    OWNER_LEFT = "no owner left"
    OWNER_CHANGED = "owner changed"
    DOCUMENTED = "documentation"

    @property
    def side(self) -> Side:
        """For whom it is a change."""
        return _SIDES[self]


_SIDES = {
    Kind.TABLE_REMOVED: Side.READERS,
    Kind.TABLE_ADDED: Side.ADDITION,
    Kind.REMOVED: Side.READERS,
    Kind.RENAMED: Side.READERS,
    Kind.ADDED: Side.ADDITION,
    Kind.TYPE: Side.READERS,
    Kind.PHYSICAL_TYPE: Side.METADATA,
    Kind.OPTIONS_LOOSENED: Side.READERS,
    Kind.OPTIONS_TIGHTENED: Side.PRODUCERS,
    Kind.OPTIONAL: Side.READERS,
    Kind.REQUIRED: Side.PRODUCERS,
    Kind.NOT_UNIQUE: Side.READERS,
    Kind.UNIQUE: Side.PRODUCERS,
    Kind.VALUES_ADDED: Side.READERS,
    Kind.VALUES_REMOVED: Side.PRODUCERS,
    Kind.RULE_TIGHTENED: Side.PRODUCERS,
    Kind.RULE_LOOSENED: Side.SERVICE,
    Kind.SERVICE_LOOSENED: Side.SERVICE,
    Kind.SERVICE_TIGHTENED: Side.PRODUCERS,
    Kind.DEPRECATED: Side.LIFECYCLE,
    Kind.RETIRED: Side.LIFECYCLE,
    Kind.REVIVED: Side.METADATA,
    Kind.OWNER_LEFT: Side.OWNERSHIP,
    Kind.OWNER_CHANGED: Side.OWNERSHIP,
    Kind.DOCUMENTED: Side.METADATA,
}


Promise = ServiceLevel | Rule
"""What a contract promises of its data as it is used: how old, how complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChange:
    """One change of a contract. `table`, `column`: by their names in the data; empty: of the whole contract, or table.

    `datasets`: those of the table. `place`: `file:line` in the newer version, or where it was in the older one.
    `promises`: a service level or quality rule before and after, each None if there is none.
    """

    kind: Kind
    table: str = ""
    column: str = ""
    datasets: tuple[DatasetName, ...] = ()
    before: str = ""
    after: str = ""
    place: str = ""
    promises: tuple[Promise | None, Promise | None] = (None, None)

    @property
    def subject(self) -> str:
        """What changes, as people read it."""
        return ".".join(part for part in (self.table, self.column) if part) or "the contract"
