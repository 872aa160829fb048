"""The access review: each grant with what is known of its use, and what speaks against keeping it.

A pure function of the access policy, the audit log's last uses, the labels of columns, and a time. The audit log names
who acted, not by which of their grants: a use counts for all grants of its subject.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from whence.model.access import Action, Grant, Hiding, ReadingRestriction, Role, Viewer, matches_pattern
from whence.model.names import DatasetName
from whence.query.sensitivity.labelled_columns import LabelledColumn
from whence.store.security.api_key_rows import StoredKey
from whence.store.security.grants import EVERYBODY

KEEP = "whence access keep"
KEPT = (KEEP, "PUT /api/v2/grants/kept")
"""What the audit log says of a decision to keep a grant; its nodes are the subject, the pattern and the reason."""
GIVEN = ("whence access grant", "PUT /api/v2/grants")
"""What it says of a grant that was given; its nodes are the subject, and the role with the pattern."""

_ROLES = {
    Action.READ.value: Role.READER,
    Action.KNOWN.value: Role.READER,
    "login": Role.READER,
    "export": Role.READER,
    Action.WRITE.value: Role.WRITER,
    Action.STEWARD.value: Role.STEWARD,
    "begun": Role.STEWARD,
    Action.ADMIN.value: Role.ADMIN,
}
"""The role that each action of the audit log needs."""


class Concern(StrEnum):
    """What speaks against keeping a grant."""

    NO_KEY = "no live key"
    NOT_USED = "not used"
    ROLE_NOT_USED = "role not used"
    NO_EXPIRY = "key never expires"
    EVERYTHING = "administers everything"
    NOT_KNOWN = "use not known"
    NOT_REVIEWED = "not reviewed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The decision of a reviewer to keep a grant; `at` in µs."""

    subject: str
    namespaces: str
    reason: str
    by: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessFacts:
    """What is known of access. `uses`: when each subject did each action last (µs). `logged_since`: the audit log's
    first entry. `members`: subjects whose sessions name a group. `given`: when grants were given, by subject, and role
    with pattern as the audit log has it.
    """

    grants: Mapping[str, Sequence[Grant]]
    hidings: Mapping[str, Sequence[Hiding]]
    restrictions: Sequence[ReadingRestriction] = ()
    keys: Sequence[StoredKey]
    uses: Mapping[str, Mapping[str, int]]
    logged_since: int | None
    members: Mapping[str, frozenset[str]]
    given: Mapping[tuple[str, str], int]
    kept: Sequence[Kept]
    columns: Sequence[LabelledColumn]
    """The columns with sensitive data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedGrant:
    """A grant as a reviewer judges it. Times in µs; None: not known, or never.

    `strongest`: the highest role that the subject's actions in the window needed. `columns`: how many columns with
    sensitive data the grant shows, by grade.
    """

    subject: str
    grant: Grant
    used_at: int | None
    strongest: Role | None
    columns: Mapping[str, int]
    kept: Kept | None
    concerns: tuple[Concern, ...]


def review_access(facts: AccessFacts, now: int, window: int) -> Sequence[ReviewedGrant]:
    """Every grant, those with the most concerns first. `window`: how long without a use is too long (µs)."""
    kept = {(one.subject, one.namespaces): one for one in sorted(facts.kept, key=lambda one: one.at)}
    reviewed = [
        _review(facts, subject, grant, kept.get((subject, grant.namespaces)), now, window)
        for subject, several in facts.grants.items()
        for grant in several
    ]
    return sorted(reviewed, key=lambda one: (-len(one.concerns), -one.grant.role, one.subject, one.grant.namespaces))


def _review(facts: AccessFacts, subject: str, grant: Grant, kept: Kept | None, now: int, window: int) -> ReviewedGrant:
    uses = [(at, _ROLES[action]) for action, at in _uses(facts, subject) if action in _ROLES]
    recent = [role for at, role in uses if at >= now - window]
    strongest = max(recent, default=None)
    return ReviewedGrant(
        subject=subject,
        grant=grant,
        used_at=max((at for at, _ in uses), default=None),
        strongest=strongest,
        columns=_count_columns(facts, subject, grant),
        kept=kept,
        concerns=tuple(_concerns(facts, subject, grant, strongest, kept, now, window)),
    )


def _uses(facts: AccessFacts, subject: str) -> Iterator[tuple[str, int]]:
    """The last uses of a subject; those of a group are those of the members that are known."""
    for who in (subject, *facts.members.get(subject, ())):
        yield from facts.uses.get(who, {}).items()


def _concerns(
    facts: AccessFacts, subject: str, grant: Grant, strongest: Role | None, kept: Kept | None, now: int, window: int
) -> Iterator[Concern]:
    live = [one for one in _keys(facts, subject) if one.is_live(now)]
    if subject.startswith("key:") and not live:
        yield Concern.NO_KEY
    elif not _is_new(facts, subject, grant, now - window):
        yield from _concerns_of_use(facts, grant, strongest, now - window)
    if any(one.expires_at is None for one in live):
        yield Concern.NO_EXPIRY
    if grant == Grant(Role.ADMIN, "*"):
        yield Concern.EVERYTHING
    if (kept is None or kept.at < now - window) and not _is_new(facts, subject, grant, now - window):
        yield Concern.NOT_REVIEWED


def _concerns_of_use(facts: AccessFacts, grant: Grant, strongest: Role | None, since: int) -> Iterator[Concern]:
    if strongest is not None and strongest >= grant.role:
        return
    if facts.logged_since is None or facts.logged_since > since:
        yield Concern.NOT_KNOWN
    else:
        yield Concern.NOT_USED if strongest is None else Concern.ROLE_NOT_USED


def _is_new(facts: AccessFacts, subject: str, grant: Grant, since: int) -> bool:
    """Whether the grant, or the first key of its subject, was made since a time: that was a decision, too."""
    given = facts.given.get((subject, f"{grant.role.name.lower()} in {grant.namespaces}"))
    first = min((one.created_at for one in _keys(facts, subject)), default=None)
    return any(at is not None and at >= since for at in (given, first))


def _keys(facts: AccessFacts, subject: str) -> Sequence[StoredKey]:
    return [one for one in facts.keys if f"key:{one.name}" == subject]


def _count_columns(facts: AccessFacts, subject: str, grant: Grant) -> Mapping[str, int]:
    """The columns with sensitive data that this grant alone shows."""
    hidings = tuple(one for who in (EVERYBODY, subject) for one in facts.hidings.get(who, ()))
    restrictions = tuple(one for one in facts.restrictions if one.is_for([subject]))
    viewer = Viewer(name=subject, grants=(grant,), hidings=hidings, restrictions=restrictions)
    found: Counter[str] = Counter()
    for dataset, columns in _by_dataset(facts.columns).items():
        if matches_pattern(grant.namespaces, dataset.namespace):
            found.update(one.grade.word for one in columns if not viewer.is_hidden(dataset, one.name.field))
    return dict(found)


def _by_dataset(columns: Sequence[LabelledColumn]) -> Mapping[DatasetName, Sequence[LabelledColumn]]:
    found: dict[DatasetName, list[LabelledColumn]] = {}
    for one in columns:
        found.setdefault(one.name.dataset, []).append(one)
    return found
