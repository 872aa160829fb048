"""The policies that were declared."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from whence.errors import RulesFileError
from whence.govern.declared_rules import DeclaredRule, RuleKind, held_rules
from whence.govern.policies.policy import Policy, PolicyFile
from whence.govern.policies.policy_file import read_policies
from whence.model.catalog import RegistryKind
from whence.model.records.rules import POLICY
from whence.query.ports.catalog import Catalog

PLACE = "declared"
"""Where a policy is written that was declared."""
_REMEMBERED = 10_000
"""Texts of policies that are not read again."""


@lru_cache(maxsize=_REMEMBERED)
def _policy(text: str) -> PolicyFile | None:
    """The policy of a text, with the categories that it uses."""
    try:
        found = read_policies(text)
    except (RulesFileError, ValueError):
        return None
    return replace(found, policies=tuple(replace(one, place=PLACE) for one in found.policies))


POLICIES = RuleKind(registry=RegistryKind.POLICY, facet=POLICY, facet_class="PolicyDatasetFacet", read=_policy)
"""Policies, as declared rules."""


def held_policies(
    catalog: Catalog, until: int | None = None, shown: Catalog | None = None
) -> Iterator[DeclaredRule[PolicyFile]]:
    """The policies that hold at a time (µs), or now. One whose text is about other namespaces than its own is left out:
    a steward of one sets no rules for others. `shown`: of those that a viewer sees in this catalog.
    """
    wanted = None if shown is None else {(one.namespace, one.record.name) for one in held_rules(POLICIES, shown, until)}
    for one in held_rules(POLICIES, catalog, until):
        is_own = one.rule is None or all(policy.namespaces == (one.namespace,) for policy in one.rule.policies)
        if is_own and (wanted is None or (one.namespace, one.record.name) in wanted):
            yield one


def declared_files(catalog: Catalog, until: int | None = None, shown: Catalog | None = None) -> Sequence[PolicyFile]:
    """The same policies, as far as this version of Whence can read them, those with the same categories together."""
    return group_policies(one.rule for one in held_policies(catalog, until, shown) if one.rule is not None)


def group_policies(files: Iterable[PolicyFile]) -> Sequence[PolicyFile]:
    """The same policies, those with the same categories together; one that several files have, once."""
    found: list[PolicyFile] = []
    known = set[object]()
    for file in files:
        new = tuple(one for one in file.policies if not _is_known(one, file, known))
        index = next((n for n, one in enumerate(found) if _knows_the_same(one, file)), None)
        if index is None:
            found.append(replace(file, policies=new))
        else:
            found[index] = replace(found[index], policies=(*found[index].policies, *new))
    return [one for one in found if one.policies]


def _knows_the_same(one: PolicyFile, other: PolicyFile) -> bool:
    return (one.categories, one.functions) == (other.categories, other.functions)


def _is_known(policy: Policy, file: PolicyFile, known: set[object]) -> bool:
    """Whether the same policy is known for all its namespaces, or for everywhere."""
    used = {category for one in policy.conditions for category in one.categories} & file.categories.keys()
    tags = frozenset((one, file.categories[one]) for one in used), file.functions
    effect = (policy.required, policy.restricts_reading, policy.readers)
    same = (policy.name, policy.owner, policy.reason, policy.conditions, effect, tags)
    places = policy.namespaces or ("",)
    is_known = (same, "") in known or all((same, one) in known for one in places)
    known.update((same, one) for one in places)
    return is_known
