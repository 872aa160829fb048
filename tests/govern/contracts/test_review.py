"""The class of every change of a contract, by its readers; and what a new version needs."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from whence.govern.contracts.consumers import (
    Bounds,
    ConsumerObjective,
    DailyDelivery,
    Demand,
    MaximumAge,
    Objectives,
)
from whence.govern.contracts.contract import Contract, Rule, ServiceLevel
from whence.govern.contracts.read import read_contract
from whence.govern.contracts.review import Class, ContractReader, Readers, Review, review_contract
from whence.govern.contracts.review_reports import review_document, review_lines
from whence.govern.contracts.thresholds import Shift, compare_levels
from whence.govern.contracts.versions import Step, has_heading, step_between
from whence.govern.gate.policy import Verdict
from whence.model.names import DatasetName, JobName

Document = dict[str, Any]
Edit = Callable[[Document], object]

NOW = 1_795_154_400_000_000
"""2026-11-20."""
READ = Readers(
    found=(ContractReader(job=JobName("airflow", "sum"), target=DatasetName("pg", "gold"), owners=("finance",)),)
)
UNREAD = Readers()
ORDERS, GOLD = DatasetName("postgres://db:5432", "d.public.orders"), DatasetName("pg", "gold")


def objective(name: str, demand: Demand, dataset: DatasetName = GOLD) -> ConsumerObjective:
    return ConsumerObjective(
        service="sales", name=name, dataset=dataset, owners=("finance",), demand=demand, text=f"{name}!"
    )


FRESH = objective("fresh", MaximumAge(seconds=6 * 3_600))
DAILY = objective("daily", DailyDelivery(by=480, zone="UTC", pause=86_400))
FULL = objective(
    "full",
    Bounds(column="", rule=Rule(key="full", metric="rowCount", operators={"mustBeGreaterThan": 100}, unit="rows")),
    ORDERS,
)
NONE = Objectives()
STRICTER = Objectives(found=(FRESH, DAILY, FULL))

BASE: Document = {
    "kind": "DataContract",
    "id": "orders",
    "version": "1.4.0",
    "status": "active",
    "servers": [{"server": "s", "type": "postgres", "host": "db", "port": 5432, "database": "d", "schema": "public"}],
    "schema": [
        {
            "name": "orders",
            "properties": [
                {"name": "id", "logicalType": "integer", "physicalType": "int", "primaryKey": True, "required": True},
                {"name": "code", "logicalType": "string", "unique": True, "logicalTypeOptions": {"maxLength": 9}},
                {"name": "total", "logicalType": "number", "required": True},
                {"name": "note", "logicalType": "string"},
                {"name": "made_at", "logicalType": "date", "logicalTypeOptions": {"format": "yyyy"}},
                {"name": "status", "logicalType": "string", "quality": ["VALUES"]},
                {"name": "to", "logicalType": "object", "properties": [{"name": "city", "logicalType": "string"}]},
                {"name": "x", "logicalType": "boolean"},
                {"name": "y", "logicalType": "boolean"},
            ],
            "quality": ["ROWS"],
        },
        {"name": "lines", "properties": [{"name": "id", "logicalType": "integer"}]},
    ],
    "team": [{"username": "ada", "role": "Owner"}],
    "slaProperties": [
        {"property": "latency", "value": 4, "unit": "h"},
        {"property": "retention", "value": 3, "unit": "y"},
        {"property": "frequency", "value": 1, "unit": "d"},
    ],
}
VALUES, ROWS = ["new", "paid"], {"mustBeGreaterThan": 100}


def columns(document: Document, table: int = 0) -> list[Document]:
    found: list[Document] = document["schema"][table]["properties"]
    return found


def column(document: Document, name: str) -> Document:
    return next(one for one in columns(document) if one["name"] == name)


def drop(document: Document, name: str) -> None:
    columns(document).remove(column(document, name))


def level(document: Document, name: str) -> Document:
    return next(one for one in document["slaProperties"] if one["property"] == name)


def end(document: Document, day: str) -> None:
    document["slaProperties"].append({"property": "endOfLife", "value": day})


def deprecate(document: Document) -> None:
    document["status"] = "deprecated"
    end(document, "2027-01-31")


def swap(document: Document) -> None:
    for old, new in (("x", "p"), ("y", "q")):
        column(document, old)["name"] = new
    drop(document, "p")


EDITS: dict[str, Edit] = {
    "a column is removed": lambda it: drop(it, "total"),
    "a column is renamed": lambda it: column(it, "total").update(name="amount"),
    "a nested column is removed": lambda it: column(it, "to").pop("properties"),
    "a column with columns inside is removed": lambda it: drop(it, "to"),
    "two columns of one kind are replaced": swap,
    "a table is removed": lambda it: it["schema"].pop(),
    "a table gets another physical name": lambda it: it["schema"][1].update(physicalName="order_lines"),
    "a number becomes a whole number": lambda it: column(it, "total").update(logicalType="integer"),
    "a number becomes a text": lambda it: column(it, "total").update(logicalType="string"),
    "a type is no longer stated": lambda it: column(it, "total").pop("logicalType"),
    "a required column may be null": lambda it: column(it, "total").update(required=False),
    "a unique column may repeat": lambda it: column(it, "code").pop("unique"),
    "a primary key is none any more": lambda it: column(it, "id").pop("primaryKey"),
    "a value is added": lambda it: it.update(values=[*VALUES, "lost"]),
    "any value is allowed": lambda it: column(it, "status").pop("quality"),
    "a longer text is allowed": lambda it: column(it, "code").update(logicalTypeOptions={"maxLength": 20}),
    "a limit is taken away": lambda it: column(it, "code").pop("logicalTypeOptions"),
    "another format is promised": lambda it: column(it, "made_at").update(logicalTypeOptions={"format": "yy"}),
    "a physical type changes alone": lambda it: column(it, "id").update(physicalType="bigint"),
    "a column becomes required": lambda it: column(it, "note").update(required=True),
    "a column becomes unique": lambda it: column(it, "note").update(unique=True),
    "a value is removed": lambda it: it.update(values=["new"]),
    "values are listed for the first time": lambda it: column(it, "note").update(quality=["VALUES"]),
    "only a shorter text is allowed": lambda it: column(it, "code").update(logicalTypeOptions={"maxLength": 5}),
    "a threshold is tightened": lambda it: it.update(rows={"mustBeGreaterThan": 200}),
    "a rule is added": lambda it: it["schema"][1].update(quality=["ROWS"]),
    "a threshold is loosened": lambda it: it.update(rows={"mustBeGreaterOrEqualTo": 100}),
    "a rule is removed": lambda it: it["schema"][0].pop("quality"),
    "latency is loosened": lambda it: level(it, "latency").update(value=1, unit="d"),
    "latency is written in another unit": lambda it: level(it, "latency").update(value=240, unit="min"),
    "latency is tightened": lambda it: level(it, "latency").update(value=90, unit="minutes"),
    "retention is shortened": lambda it: level(it, "retention").update(value=24, unit="months"),
    "frequency is no longer promised": lambda it: it["slaProperties"].remove(level(it, "frequency")),
    "an end is stated": lambda it: end(it, "2030-01-01"),
    "a column is added": lambda it: columns(it).append({"name": "more", "logicalType": "date"}),
    "a table is added": lambda it: it["schema"].append({"name": "refunds"}),
    "a description is added": lambda it: column(it, "note").update(description="What they said"),
    "tags are added": lambda it: it.update(tags=["shop"]),
    "columns are in another order": lambda it: columns(it).reverse(),
    "a column is named otherwise in the contract alone": lambda it: column(it, "note").update(
        name="remark", physicalName="note"
    ),
    "it is deprecated, with a day": deprecate,
    "it is deprecated, without a day": lambda it: it.update(status="deprecated"),
    "it is retired": lambda it: it.update(status="retired"),
    "the owner leaves": lambda it: it["team"][0].update(dateOut="2026-01-01"),
    "the team is removed": lambda it: it.pop("team"),
    "another owner takes over": lambda it: it["team"][0].update(username="bob"),
    "an owner is added": lambda it: it["team"].append({"username": "bob", "role": "owner"}),
}


def write(document: Document, standard: str) -> str:
    """A document in the form of a version of the standard."""
    document = copy.deepcopy(document)
    values, rows = document.pop("values", VALUES), document.pop("rows", ROWS)
    old = standard == "v3.0.2"
    name = "rule" if old else "metric"
    listed = {"validValues": values} if old else {"arguments": {"validValues": values}}
    rules = {
        "VALUES": {name: "invalidValues", **listed, "mustBe": 0},
        "ROWS": {name: "rowCount", **rows, "type": "library"},
    }
    for table in document["schema"]:
        for one in (table, *table.get("properties", ())):
            if "quality" in one:
                one["quality"] = [rules[rule] for rule in one["quality"]]
    if not old and "team" in document:
        document["team"] = {"members": document["team"]}
    return yaml.safe_dump({"apiVersion": standard, **document}, sort_keys=False)


def read(text: str, file: str) -> Contract:
    contract, checked = read_contract(text, file)
    assert contract is not None, checked.problems
    return contract


def review(edit: Edit, readers: Readers, version: str = "2.0.0", note: str | None = "# 2.0.0\n") -> Review:
    return pair(edit, ("v3.0.2", "v3.1.0"), readers, version, note)


def pair(
    edit: Edit,
    standards: tuple[str, str],
    readers: Readers,
    version: str,
    note: str | None,
    objectives: Objectives = NONE,
) -> Review:
    before, after = BASE, copy.deepcopy(BASE)
    edit(after)
    after = {**after, "version": version}
    old, new = read(write(before, standards[0]), "old.yaml"), read(write(after, standards[1]), "new.yaml")
    return review_contract(old, new, lambda _: readers, lambda _: objectives, note=note, now=NOW)


def expected() -> dict[str, list[str]]:
    lines = (Path(__file__).parent / "classes.txt").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if not line.startswith("#")]
    return {name: classes for name, *classes in rows}


STANDARDS = [("v3.0.2", "v3.0.2"), ("v3.0.2", "v3.1.0"), ("v3.1.0", "v3.1.0"), ("v3.1.0", "v3.2.0")]
STANDARDS += [("v3.2.0", "v3.2.0"), ("v3.0.2", "v3.2.0"), ("v3.2.0", "v3.1.0")]


def verdict_of(found: Review) -> str:
    """Every distinct class, with its step, and whether it blocks."""
    parts = dict.fromkeys(
        f"{one.class_} {one.step.name.lower()}{' blocked' * (one.verdict is Verdict.BLOCKED)}"
        for one in sorted(found.changes, key=lambda one: list(Class).index(one.class_))
    )
    return " + ".join(parts) or "none"


def test_the_table_and_the_edits_are_the_same() -> None:
    assert list(expected()) == list(EDITS)
    assert len(EDITS) >= 40


CONSUMERS = {"read": (READ, NONE), "unread": (UNREAD, NONE), "stricter": (READ, STRICTER)}


@pytest.mark.parametrize("consumers", CONSUMERS)
@pytest.mark.parametrize("name", EDITS)
def test_every_class(name: str, consumers: str) -> None:
    standards = STANDARDS[list(EDITS).index(name) % len(STANDARDS)]
    readers, objectives = CONSUMERS[consumers]
    found = pair(EDITS[name], standards, readers, "2.0.0", "# 2.0.0", objectives)
    assert verdict_of(found) == expected()[name][list(CONSUMERS).index(consumers)]
    assert not found.missing
    for one in found.changes:
        assert one.change.place.split(":")[0] in ("old.yaml", "new.yaml")


@pytest.mark.parametrize("standards", STANDARDS, ids="-".join)
def test_the_same_promise_in_another_version_of_the_standard_is_no_change_of_it(standards: tuple[str, str]) -> None:
    found = pair(lambda _: None, standards, READ, "1.4.1", None)
    assert verdict_of(found) == "metadata patch"
    assert found.verdict is Verdict.NOTE


def test_a_breaking_change_needs_version_note_and_approval() -> None:
    remove = EDITS["a column is removed"]
    whole = review(remove, READ)
    assert (whole.verdict, whole.missing, whole.approvers) == (Verdict.APPROVAL_NEEDED, (), ("ada",))
    assert whole.notified == ("finance",)
    small = review(remove, READ, version="1.5.0", note="# 1.5.0")
    assert (small.verdict, small.missing) == (
        Verdict.BLOCKED,
        ("a new major version is needed; 1.4.0 became 1.5.0",),
    )
    assert review(remove, READ, note=None).missing == (
        "a migration note is needed: a file MIGRATION.md with a heading for 2.0.0",
    )
    assert review(remove, READ, note="# 1.9\n").missing == ("the migration note MIGRATION.md has no heading for 2.0.0",)
    unused = review(remove, UNREAD, version="1.5.0", note=None)
    assert (unused.verdict, unused.missing, unused.approvers) == (Verdict.NOTE, (), ())


def test_readers_that_are_not_known_are_readers() -> None:
    unsure = review(EDITS["a column is removed"], Readers(unknown="a budget of nodes stopped the search"))
    assert verdict_of(unsure) == "breaking major"
    assert any("there may be more readers: a budget" in line for line in review_lines(unsure))


@pytest.mark.parametrize(
    ("version", "missing"),
    [
        ("1.4.0", "a new minor version is needed; 1.4.0 became 1.4.0"),
        ("1.4.1", "a new minor version is needed; 1.4.0 became 1.4.1"),
        ("1.3.9", "the version 1.3.9 does not follow 1.4.0: write MAJOR.MINOR.PATCH, and never go back"),
        ("next", "the version next does not follow 1.4.0: write MAJOR.MINOR.PATCH, and never go back"),
        ("1.5.0", ""),
        ("2.0.0", ""),
    ],
)
def test_a_version_has_to_follow(version: str, missing: str) -> None:
    found = review(EDITS["a column is added"], READ, version=version)
    assert found.missing == ((missing,) if missing else ())
    assert found.verdict is (Verdict.BLOCKED if missing else Verdict.NOTE)


def test_an_unchanged_contract_passes() -> None:
    found = pair(lambda _: None, ("v3.1.0", "v3.1.0"), READ, "1.4.0", None)
    assert (found.verdict, found.changes, found.missing) == (Verdict.PASS, (), ())


def test_a_deprecated_contract_whose_day_is_over_blocks() -> None:
    def late(document: Document) -> None:
        document["status"] = "deprecated"
        end(document, "2026-11-20")

    assert review(late, READ).verdict is Verdict.BLOCKED
    assert review(late, UNREAD).verdict is Verdict.NOTE


def test_reports_name_readers_and_places() -> None:
    found = review(EDITS["a column is renamed"], READ)
    assert list(review_lines(found)) == [
        "approval needed: orders 1.4.0 -> 2.0.0",
        f"  breaking: orders.total: renamed: total -> amount  ({found.changes[0].change.place})",
        "    read by job:airflow:sum, into dataset:pg:gold, of finance",
        "  approval needed of: ada",
        "  to be notified: finance",
    ]
    (change,) = review_document(found)["changes"]
    assert (change["class"], change["column"], change["after"]) == ("breaking", "total", "amount")
    assert change["readers"] == [{"job": "job:airflow:sum", "target": "dataset:pg:gold", "owners": ["finance"]}]


@given(st.tuples(*[st.integers(0, 3)] * 3), st.tuples(*[st.integers(0, 3)] * 3))
def test_steps_are_those_of_semver(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    step = step_between(".".join(map(str, old)), ".".join(map(str, new)))
    if new < old:
        assert step is None
    elif new == old:
        assert step is Step.NONE
    else:
        first = next(at for at in range(3) if old[at] != new[at])
        assert step is (Step.MAJOR, Step.MINOR, Step.PATCH)[first]


@pytest.mark.parametrize(
    ("note", "has"),
    [
        ("# 2.0.0", True),
        ("## To v2.0.0\ntext", True),
        ("## [2.0.0] - 2026-11-20", True),
        ("# 12.0.0", False),
        ("# 2.0.0.1", False),
        ("# 2x0x0", False),
        ("2.0.0 is not a heading", False),
        ("", False),
    ],
)
def test_a_note_has_a_heading_for_the_version(note: str, has: bool) -> None:
    assert has_heading(note, "2.0.0") is has


@given(
    st.sampled_from(["latency", "retention", "frequency", "timeOfAvailability", "endOfLife", "x"]),
    st.integers(0, 50),
    st.integers(0, 50),
)
def test_a_service_level_that_is_looser_one_way_is_tighter_the_other(name: str, one: int, two: int) -> None:
    a, b = (ServiceLevel(property=name, value=value) for value in (one, two))
    there, back = compare_levels(a, b), compare_levels(b, a)
    if one == two:
        assert there is Shift.SAME
    elif name == "x":
        assert {there, back} == {Shift.LOOSER}
    else:
        assert {there, back} == {Shift.LOOSER, Shift.TIGHTER}
    assert compare_levels(a, replace(a, unit="h")) is (
        Shift.SAME if one == 0 else compare_levels(a, replace(a, value=one * 3600))
    )
