"""A rule of certification: which datasets it is about, and what has to hold of each."""

from dataclasses import dataclass
from fractions import Fraction

from whence.model.access import matches_pattern
from whence.model.names import DatasetName
from whence.model.traits import Traits


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which datasets of its namespaces a rule is about: all that is stated; of each, one of its values. A `*` in
    `names` matches any characters; nothing stated: all datasets.
    """

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()

    def fits(self, name: DatasetName, traits: Traits) -> bool:
        """Whether a dataset is one of these."""
        return (
            (not self.names or any(matches_pattern(one, name.name) for one in self.names))
            and (not self.tags or not traits.tags_of("").isdisjoint(self.tags))
            and (not self.types or not traits.types.isdisjoint(self.types))
            and (not self.tiers or traits.tier in self.tiers)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirements:
    """What has to hold. `lineage`: the least share of columns upstream whose sources are known; None: it does not
    matter. `objectives`: days for which each objective has to be met; None: they do not matter.
    """

    owner: bool = True
    contract: bool = True
    lineage: Fraction | None = Fraction(1)
    objectives: int | None = 30
    checks: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule as it is written. `text`: of the rule in each of its namespaces, as canonical JSON of the form of
    `certification.yaml` with that namespace alone; `place`: where it is written.
    """

    name: str
    namespaces: tuple[str, ...]
    reason: str = ""
    owner: str = ""
    scope: Scope = Scope()
    requirements: Requirements = Requirements()
    texts: tuple[tuple[str, str], ...] = ()
    place: str = ""
