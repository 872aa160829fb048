"""The rules of a gate: what needs an approval, what blocks, who may approve, and what is waived until when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum, StrEnum

from whence.model.access import matches_pattern

ANYBODY = "*"
"""As an owner in `approvers`: whoever owns nothing, or what nobody owns."""

SQL_SUFFIX = ".sql"


class Verdict(IntEnum):
    """What a gate says of a change, the worse the greater."""

    PASS = 0
    NOTE = 1
    APPROVAL_NEEDED = 2
    UNKNOWN = 3
    BLOCKED = 4

    @property
    def text(self) -> str:
        """As people read it."""
        return self.name.lower().replace("_", " ")


class Reaction(StrEnum):
    """What a rule makes of a change that it fits."""

    JUDGE = "judge"
    """As any other change."""
    PASS = "pass"
    NOTE = "note"
    APPROVAL = "approval"
    UNKNOWN = "unknown"
    BLOCK = "block"

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows."""
        return _VERDICTS[self]


_VERDICTS: Mapping[Reaction, Verdict] = {
    Reaction.JUDGE: Verdict.PASS,
    Reaction.PASS: Verdict.PASS,
    Reaction.NOTE: Verdict.NOTE,
    Reaction.APPROVAL: Verdict.APPROVAL_NEEDED,
    Reaction.UNKNOWN: Verdict.UNKNOWN,
    Reaction.BLOCK: Verdict.BLOCKED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """One change that may pass until the end of a day (UTC), because `owner` says so. `place`: where it is written."""

    change: str
    reason: str
    owner: str
    expires: date
    place: str = ""

    def is_expired(self, today: date) -> bool:
        """Whether its last day is over."""
        return today > self.expires


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What `gate.yaml` says (docs/reference/gate.md). The defaults are those of lineage-verified changes: an approval
    for more than five downstream nodes, or any that is certified or of tier 1.
    """

    downstream_nodes: int | None = 5
    certified: bool = True
    tiers: frozenset[int] = frozenset({1})
    on_breaking: Reaction = Reaction.APPROVAL
    on_contract: Reaction = Reaction.BLOCK
    on_broken_reference: Reaction = Reaction.BLOCK
    on_unknown: Reaction = Reaction.UNKNOWN
    on_not_confirmed: Reaction = Reaction.JUDGE
    on_incomplete: Reaction = Reaction.UNKNOWN
    on_unjudged: Reaction = Reaction.UNKNOWN
    on_policy: Reaction = Reaction.BLOCK
    readers_within_days: int = 90
    approvers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    only_paths: tuple[str, ...] = ()
    ignored_paths: tuple[str, ...] = ()
    code_paths: tuple[str, ...] = ()
    """Pipeline code beside SQL files."""
    waivers: tuple[Waiver, ...] = ()
    promotion_coverage: int = 95
    """The least share of columns upstream whose sources are known, in percent."""
    promotion_certified_inputs: bool = False

    def judges(self, path: str) -> bool:
        """Whether a file belongs to what is judged. A `*` in a pattern matches any characters, `/` among them."""
        included = not self.only_paths or any(matches_pattern(one, path) for one in self.only_paths)
        return included and not any(matches_pattern(one, path) for one in self.ignored_paths)

    def must_judge(self, path: str) -> bool:
        """Whether a file is pipeline code (SQL, and `code_paths`): a change of it that nothing judges is no pass."""
        is_code = path.lower().endswith(SQL_SUFFIX) or any(matches_pattern(one, path) for one in self.code_paths)
        return is_code and self.judges(path)

    def people_of(self, owner: str) -> frozenset[str]:
        """Who may approve for an owner: the people listed for it, else the owner itself. Empty for the empty owner if
        nobody is listed for `*`: anybody may.
        """
        if owner in self.approvers:
            return self.approvers[owner]
        listed = self.approvers.get(ANYBODY, frozenset())
        return listed | {owner} if owner else listed


DEFAULT_RULES = Rules()
