"""What an access review says of each grant: a table of cases, and an oracle that asks for each column by itself."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.govern.access_review import AccessFacts, Concern, Kept, review_access
from whence.model.access import SCOPES, Grant, Hiding, Role, Viewer
from whence.model.names import DatasetName, FieldName
from whence.model.sensitivity import Grade
from whence.query.sensitivity.labelled_columns import LabelledColumn
from whence.store.security.api_key_rows import StoredKey

DAY = 86_400_000_000
NOW, WINDOW = 1_000 * DAY, 90 * DAY
OLD, RECENT = NOW - 400 * DAY, NOW - 5 * DAY


def make_key(
    name: str, *, created: int = OLD, expires: int | None = NOW + DAY, revoked: int | None = None
) -> StoredKey:
    return StoredKey(
        id=name, name=name, hash="", scopes=SCOPES, created_at=created, expires_at=expires, revoked_at=revoked
    )


NOTHING = AccessFacts(
    grants={},
    hidings={},
    keys=(),
    uses={},
    logged_since=OLD,
    members={},
    given={},
    kept=(),
    columns=(),
)
DECIDED = Kept(subject="key:ci", namespaces="prod*", reason="releases", by="cli:ada", at=RECENT)
CI = replace(
    NOTHING,
    grants={"key:ci": (Grant(Role.WRITER, "prod*"),)},
    keys=(make_key("ci"),),
    uses={"key:ci": {"write": RECENT}},
    kept=(DECIDED,),
)


@pytest.mark.parametrize(
    ("facts", "concerns"),
    [
        (CI, set()),
        (replace(CI, kept=()), {Concern.NOT_REVIEWED}),
        (replace(CI, kept=(replace(DECIDED, at=OLD),)), {Concern.NOT_REVIEWED}),
        (replace(CI, kept=(replace(DECIDED, namespaces="*"),)), {Concern.NOT_REVIEWED}),
        (replace(CI, uses={}), {Concern.NOT_USED}),
        (replace(CI, uses={"key:ci": {"write": OLD}}), {Concern.NOT_USED}),
        (replace(CI, uses={"key:ci2": {"write": RECENT}}), {Concern.NOT_USED}),
        (replace(CI, uses={"key:ci": {"write": OLD, "read": RECENT}}), {Concern.ROLE_NOT_USED}),
        (replace(CI, uses={"key:ci": {"export": RECENT}}), {Concern.ROLE_NOT_USED}),
        (replace(CI, uses={"key:ci": {"begun": RECENT}}), set()),
        (replace(CI, uses={}, logged_since=RECENT), {Concern.NOT_KNOWN}),
        (replace(CI, uses={}, logged_since=None), {Concern.NOT_KNOWN}),
        (replace(CI, logged_since=RECENT), set()),
        (replace(CI, uses={}, kept=(), keys=(make_key("ci", created=RECENT),)), set()),
        (replace(CI, uses={}, kept=(), given={("key:ci", "writer in prod*"): RECENT}), set()),
        (replace(CI, kept=(), given={("key:ci", "reader in prod*"): RECENT}), {Concern.NOT_REVIEWED}),
        (replace(CI, keys=(make_key("ci", revoked=RECENT),)), {Concern.NO_KEY}),
        (replace(CI, keys=(make_key("ci", expires=NOW),)), {Concern.NO_KEY}),
        (replace(CI, keys=(make_key("ci", revoked=RECENT), make_key("ci", created=RECENT))), set()),
        (replace(CI, keys=(make_key("ci", expires=None),)), {Concern.NO_EXPIRY}),
        (
            replace(NOTHING, grants={"user:ada": (Grant(Role.ADMIN, "*"),)}, uses={"user:ada": {"admin": RECENT}}),
            {Concern.EVERYTHING, Concern.NOT_REVIEWED},
        ),
    ],
)
def test_what_speaks_against_a_grant(facts: AccessFacts, concerns: set[Concern]) -> None:
    (one,) = review_access(facts, NOW, WINDOW)
    assert set(one.concerns) == concerns


def test_a_group_is_used_by_the_members_that_are_known() -> None:
    facts = replace(
        NOTHING,
        grants={"group:bi": (Grant(Role.READER, "prod"),), "group:left": (Grant(Role.READER, "prod"),)},
        members={"group:bi": frozenset({"user:ada", "user:ben"})},
        uses={"user:ben": {"read": RECENT}, "user:eve": {"read": NOW}},
    )
    by_subject = {one.subject: one for one in review_access(facts, NOW, WINDOW)}
    assert (by_subject["group:bi"].used_at, by_subject["group:bi"].strongest) == (RECENT, Role.READER)
    assert by_subject["group:left"].used_at is None
    assert [one.subject for one in review_access(facts, NOW, WINDOW)] == ["group:left", "group:bi"]


def test_the_last_decision_is_the_one_that_counts() -> None:
    older = replace(DECIDED, at=OLD, reason="before")
    for kept in ((older, DECIDED), (DECIDED, older)):
        (one,) = review_access(replace(CI, kept=kept), NOW, WINDOW)
        assert one.kept == DECIDED


_WORDS = st.sampled_from(["prod", "prod*", "*", "dev", "*od", "mail", "m*", "ïd\n"])
_COLUMNS = st.lists(
    st.builds(
        LabelledColumn,
        st.builds(
            FieldName,
            st.builds(DatasetName, st.sampled_from(["prod", "prod2", "dev"]), st.sampled_from(["crm", "mail"])),
            st.sampled_from(["mail", "id", "m*", "ïd\n"]),
        ),
        st.sampled_from([Grade.PARTIAL, Grade.FULL]),
    ),
    max_size=8,
    unique_by=lambda one: one.name,
)


@given(_COLUMNS, st.sampled_from(Role), _WORDS, st.lists(st.builds(Hiding, _WORDS, _WORDS, _WORDS), max_size=3))
def test_the_columns_of_a_grant_are_those_that_its_subject_sees(
    columns: list[LabelledColumn], role: Role, namespaces: str, hidings: list[Hiding]
) -> None:
    facts = replace(
        NOTHING,
        grants={"user:ada": (Grant(role, namespaces),)},
        hidings={"user:ada": hidings[:1], "*": hidings[1:], "user:ben": (Hiding("*", "*", "*"),)},
        columns=columns,
    )
    (one,) = review_access(facts, NOW, WINDOW)
    viewer = Viewer(name="user:ada", grants=(Grant(role, namespaces),), hidings=tuple(hidings))
    seen = [column.grade.word for column in columns if viewer.can_see(column.name)]
    assert dict(one.columns) == {word: seen.count(word) for word in set(seen)}
