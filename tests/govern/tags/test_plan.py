"""Plans and imports of tags: only tags of Whence change, direct ones count more, and nothing multiplies."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.examples import examples
from whence.govern.tags.exports import TagExport, export_of, split_three
from whence.govern.tags.imports import find_imports
from whence.govern.tags.known import KnownDataset, KnownLabel, KnownTag
from whence.govern.tags.places import Place, TagAt
from whence.govern.tags.plan import TagForm, TagPlan, label_tag, plan_tags
from whence.model.names import DatasetName
from whence.model.sensitivity import Grade

FORM = TagForm(split=lambda name: split_three(name, "a.b.c"), tag_of=label_tag, stored=str.upper)
USERS = ("DB", "S", "USERS")


def label(column: str, grade: Grade, possible: Grade | None = None, category: str = "pii") -> KnownLabel:
    return KnownLabel(column=column, category=category, grade=grade, possible=possible or grade)


def known(*labels: KnownLabel, name: str = "DB.S.USERS", columns: Iterable[str] = ("EMAIL", "NAME")) -> KnownDataset:
    return KnownDataset(name=DatasetName("w", name), columns=frozenset(columns), labels=labels)


def ours(column: str, value: str, table: tuple[str, ...] = USERS) -> TagAt:
    return TagAt(place=Place(table, column), key="whence_pii", value=value, is_ours=True)


def theirs(column: str, key: str, value: str = "", *, inherited: bool = False) -> TagAt:
    return TagAt(place=Place(USERS, column), key=key, value=value, inherited=inherited)


def planned(one: KnownDataset, *current: TagAt) -> tuple[list[tuple[str, str | None]], list[str], int]:
    plan = plan_tags([one], current, FORM, Grade.PARTIAL)
    return (
        [(one.place.column, one.value) for one in plan.changes],
        [one.reason for one in plan.left_out],
        plan.unchanged,
    )


def test_labels_become_tags_and_tags_without_labels_go() -> None:
    one = known(label("EMAIL", Grade.FULL), label("NAME", Grade.STATISTIC))
    assert planned(one) == ([("EMAIL", "full")], [], 0)
    assert planned(one, ours("EMAIL", "full")) == ([], [], 1)
    assert planned(one, ours("EMAIL", "partial"), ours("NAME", "full")) == ([("EMAIL", "full"), ("NAME", None)], [], 0)


def test_a_dataset_without_known_columns_is_tagged_itself() -> None:
    whole = label("", Grade.FULL)
    assert planned(known(whole, columns=())) == ([("", "full")], [], 0)
    assert planned(known(whole, label("EMAIL", Grade.FULL))) == ([("EMAIL", "full")], [], 0)


def test_a_direct_tag_counts_more_than_a_label_and_an_inherited_one_does_not() -> None:
    one = known(label("EMAIL", Grade.FULL))
    direct: tuple[list[tuple[str, str | None]], list[str], int] = ([], ["it is tagged directly, with Pii"], 0)
    assert planned(one, theirs("EMAIL", "Pii", "email")) == direct
    assert planned(one, theirs("EMAIL", "Pii", "none")) == direct
    assert planned(one, theirs("EMAIL", "Pii", inherited=True)) == ([("EMAIL", "full")], [], 0)
    assert planned(one, theirs("EMAIL", "cost_center", "pipeline")) == ([("EMAIL", "full")], [], 0)
    assert planned(one, theirs("EMAIL", "Pii"), ours("EMAIL", "full"))[0] == [("EMAIL", None)]


def test_what_is_not_known_changes_nothing() -> None:
    unsure = label("EMAIL", Grade.STATISTIC, Grade.FULL)
    assert planned(known(unsure), ours("EMAIL", "full"))[0] == []
    assert planned(known(label("EMAIL", Grade.PARTIAL, Grade.FULL)), ours("EMAIL", "full"))[0] == []
    assert planned(known(), ours("SECRET", "full"))[0] == []
    assert planned(known(), ours("EMAIL", "full", ("DB", "S", "HIDDEN"))) == (
        [],
        ["it has tags of Whence, but no dataset that you may see is this table"],
        0,
    )


def test_names_are_spelled_as_the_warehouse_spells_them() -> None:
    quoted = TagAt(place=Place(("DB", "S", "uSers"), "eMail"), key="owner", value="x")
    one = known(label("email", Grade.FULL), name="db.s.users", columns=["email"])
    plan = plan_tags([one], [quoted], FORM, Grade.PARTIAL)
    assert [str(change.place) for change in plan.changes] == ["DB.S.uSers.eMail"]
    assert [str(change.place) for change in plan_tags([one], [], FORM, Grade.PARTIAL).changes] == ["db.s.users.EMAIL"]
    for name in ("users", "a.b.c.d", "a.b.", "a.b.c\n; DROP TABLE x"):
        assert planned(replace(one, name=DatasetName("w", name)))[0] == []
    assert planned(known(label("a\u202eb", Grade.FULL)))[1] == ["its name has control characters"]


def test_an_import_replaces_what_the_system_said_before_and_nothing_else() -> None:
    mine = KnownTag(key="pii", value="true", field="name", source="USER")
    old = KnownTag(key="PII", value="phone", field="phone", source="SNOWFLAKE")
    one = replace(known(columns=["email", "name", "phone"]), tags=(mine, old))
    export = export_of(
        [
            theirs("EMAIL", "PII", "email"),
            theirs("EMAIL", "ZONE", "eu", inherited=True),
            theirs("", "ZONE", "us"),
            theirs("NAME", "TEAM", "crm", inherited=True),
            ours("NAME", "full"),
        ]
    )
    (change,) = find_imports([one], export, FORM, "SNOWFLAKE", complete=False).changes
    assert change.tags[0] == mine
    assert {(tag.key, tag.value, tag.field) for tag in change.tags[1:]} == {
        ("PII", "email", "email"),
        ("ZONE", "us", ""),
        ("TEAM", "crm", ""),
    }
    assert change.removed == (old,)
    again = find_imports([replace(one, tags=change.tags)], export, FORM, "SNOWFLAKE", complete=False)
    assert (again.changes, again.unchanged) == ((), 1)


def test_only_a_complete_export_says_that_other_tables_have_no_tags() -> None:
    old = KnownTag(key="PII", value="phone", field="", source="RANGER")
    one = replace(known(), tags=(old,))
    for complete, changes in ((False, 0), (True, 1)):
        found = find_imports([one], export_of([ours("A", "full", ("X", "Y", "Z"))]), FORM, "RANGER", complete=complete)
        assert len(found.changes) == changes
    stranger = export_of([TagAt(place=Place(("X", "Y", "Z")), key="k", value="v")])
    assert find_imports([one], stranger, FORM, "RANGER", complete=False).unknown == ("X.Y.Z",)


COLUMNS = ("A", "B", "C")
TABLES = tuple(("DB", "S", name) for name in ("T", "U", "HIDDEN"))
GRADES = st.sampled_from(Grade)


@st.composite
def estates(draw: st.DrawFn) -> list[KnownDataset]:
    """Two of the three tables; the third is hidden."""
    found = []
    for table in TABLES[:2]:
        labels = []
        for column in draw(st.sets(st.sampled_from(COLUMNS))):
            for category in draw(st.sets(st.sampled_from(["pii", "phi"]))):
                grade = draw(GRADES)
                labels.append(label(column, grade, max(grade, draw(GRADES)), category))
        found.append(known(*labels, name=".".join(table), columns=COLUMNS))
    return found


PLACES = st.builds(Place, st.sampled_from(TABLES), st.sampled_from(["", *COLUMNS]))
OURS = st.builds(
    lambda place, key, grade: TagAt(place=place, key=key, value=grade.word, is_ours=True),
    PLACES,
    st.sampled_from(["whence_pii", "whence_phi", "whence_old"]),
    GRADES,
)
THEIRS = st.builds(
    lambda place, key, value, inherited: TagAt(place=place, key=key, value=value, inherited=inherited),
    PLACES,
    st.sampled_from(["pii", "PHI", "owner"]),
    st.sampled_from(["", "none", "x"]),
    st.booleans(),
)


def unique(tags: Iterable[TagAt]) -> list[TagAt]:
    """A warehouse has one value for each key of a place."""
    return list({(one.place, one.key, one.inherited): one for one in tags}.values())


def applied(plan: TagPlan, tags: Iterable[TagAt]) -> list[TagAt]:
    """The tags of a warehouse after a plan."""
    found = {(one.place, one.key, one.inherited): one for one in tags}
    for change in plan.changes:
        place = (change.place, change.key, False)
        if change.value is None:
            del found[place]
        else:
            found[place] = TagAt(place=change.place, key=change.key, value=change.value, is_ours=True)
    return list(found.values())


@settings(max_examples=examples(60))
@given(estates(), st.lists(OURS, max_size=6), st.lists(THEIRS, max_size=6))
def test_a_round_trip_multiplies_nothing(estate: list[KnownDataset], mine: list[TagAt], others: list[TagAt]) -> None:
    before = unique([*mine, *others])
    plan = plan_tags(estate, export_of(before).tags, FORM, Grade.PARTIAL)
    after = applied(plan, before)
    assert not any(change.place.table == TABLES[2] for change in plan.changes)
    assert {one for one in before if not one.is_ours} == {one for one in after if not one.is_ours}
    assert plan_tags(estate, export_of(after).tags, FORM, Grade.PARTIAL).changes == ()
    imported = [_import(estate, export_of(tags)) for tags in (before, after)]
    assert imported[0] == imported[1]
    assert _import(imported[1], export_of(after)) == imported[1]
    assert not any(tag.key.startswith("whence_") for one in imported[1] for tag in one.tags)


def _import(estate: Iterable[KnownDataset], export: TagExport) -> list[KnownDataset]:
    changes = {one.dataset: one.tags for one in find_imports(estate, export, FORM, "X", complete=True).changes}
    return [replace(one, tags=changes.get(one.name, one.tags)) for one in estate]
