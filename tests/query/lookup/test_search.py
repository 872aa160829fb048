"""Search over both kinds of stores, against a plain-Python oracle: what must be found is found, in its order."""

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, select

from fixtures.stores_of_events import apply_bodies
from whence.model.catalog import RegistryKind
from whence.model.events import RunState
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.facets.facet_keys import LIFECYCLE
from whence.openlineage.write import dataset, dataset_event, deleted_facet, facet, job_event, run_event
from whence.query.answers.values import Filter
from whence.query.lookup.filtered_search import narrowed
from whence.query.lookup.search import search
from whence.store.catalog.search_candidates import MAX_SCANNED_WORDS, MIN_NAMES_READ
from whence.store.connection.engine import reading, writing
from whence.store.ingest.search_index import INDEX, index_all
from whence.store.snapshots.graph import StoreGraph

SYLLABLES = ("or", "der", "cus", "tom", "er", "re", "ve", "nue", "day", "ly", "mart", "id", "ship", "ping", "ab", "x1")
SPACES = ("postgres://shop:5432", "s3://lake")
AT = 1_790_000_000_000_000
RUN = "0190b3a1-0000-7000-8000-000000000000"


def made(dice: random.Random) -> str:
    """A name of one to four words, in snake, kebab, dotted or camel case."""
    several = ["".join(dice.choices(SYLLABLES, k=dice.randint(1, 3))) for _ in range(dice.randint(1, 4))]
    if dice.random() < 0.2:
        return several[0] + "".join(one.title() for one in several[1:])
    return dice.choice("_-./").join(several)


def osa(one: str, other: str) -> int:
    """Letters wrong, missing, too many, or swapped with the next (optimal string alignment)."""
    table = {(row, -1): row + 1 for row in range(-1, len(one))}
    table |= {(-1, column): column + 1 for column in range(-1, len(other))}
    for row, a in enumerate(one):
        for column, b in enumerate(other):
            least = min(table[row - 1, column] + 1, table[row, column - 1] + 1, table[row - 1, column - 1] + (a != b))
            if row and column and a == other[column - 1] and one[row - 1] == b:
                least = min(least, table[row - 2, column - 2] + 1)
            table[row, column] = least
    return table[len(one) - 1, len(other) - 1]


def split(text: str) -> set[str]:
    """The words of a name of ASCII letters, cut without a regular expression for its humps."""
    found: set[str] = set()
    for run in re.findall("[A-Za-z0-9]+", text):
        part = ""
        parts: list[str] = []
        for letter, before in zip(run, " " + run, strict=False):
            if letter.isupper() and (before.islower() or before.isdigit()):
                parts, part = [*parts, part], ""
            part += letter
        found |= {one.lower() for one in (*parts, part) if one} | {run.lower()}
    return found


def level(word: str, texts: tuple[str, ...], allowed: int) -> int | None:
    """How well a word fits texts: 0 as a word, 1 begins one, 2 is inside one, 3 and 4 is like one."""
    has = {one for text in texts for one in split(text)}
    levels = [0 for one in has if one == word] + [1 for one in has if one.startswith(word)]
    levels += [2 for one in has if len(word) > 2 and word in one]
    near = [osa(word, one) for one in has] if allowed else []
    return min(levels + [2 + each for each in near if 0 < each <= allowed], default=None)


def fits(name: Node, text: str, tolerant: bool) -> int | None:
    """How well the worst word of a text fits a name, its dataset's or its namespace; None: one does not fit."""
    texts = (name.field, name.dataset.name) if isinstance(name, FieldName) else (name.name,)
    space = (name.dataset if isinstance(name, FieldName) else name).namespace
    found = []
    for word in split(text):
        levels = (level(word, texts, tolerance(word) if tolerant else 0), 2 if word in space else None)
        found.append(min((one for one in levels if one is not None), default=None))
    return None if None in found or not found else max(one for one in found if one is not None)


def must_be_found(name: Node, text: str, tolerant: bool) -> bool:
    """All words are in its own name; or a field has the first parts in its dataset's name, the others in its own."""

    def all_in(words: set[str], own: str) -> bool:
        return all(level(one, (own,), tolerance(one) if tolerant else 0) is not None for one in words)

    if all_in(split(text), name.field if isinstance(name, FieldName) else name.name):
        return True
    parts = re.split(r"[\s./:]+", text)
    return isinstance(name, FieldName) and any(
        all_in(split(" ".join(parts[:cut])), name.dataset.name) and all_in(split(" ".join(parts[cut:])), name.field)
        for cut in range(1, len(parts))
        if split(" ".join(parts[:cut])) and split(" ".join(parts[cut:]))
    )


def tolerance(word: str) -> int:
    several = len({f" {word} "[at : at + 3] for at in range(len(word))})
    return 0 if word.isdigit() else 2 if several > 8 else 1 if several > 4 else 0


def spoilt(dice: random.Random, text: str) -> str:
    """A name as somebody types it: in part, with a letter wrong, or with the words in another order."""
    at = dice.randrange(len(text))
    match dice.randrange(6):
        case 0:
            return text
        case 1:
            return text[: at + 1]
        case 2:
            return text[at : at + 6]
        case 3:
            return text[:at] + dice.choice("aeiou") + text[at + 1 :]
        case 4:
            return text[:at] + text[at + 1 :]
        case _:
            return " ".join(reversed(re.findall("[A-Za-z0-9]+", text)))


@pytest.fixture
def names(store: Engine) -> set[Node]:
    """Random names, come into the store as events."""
    dice = random.Random(4)
    bodies, found = [], set[Node]()
    for place in range(25):
        job = JobName(dice.choice(SPACES), made(dice))
        output = DatasetName(dice.choice(SPACES), made(dice))
        fields = sorted({made(dice) for _ in range(dice.randint(0, 4))})
        schema = {"schema": facet("SchemaDatasetFacet", fields=[{"name": one} for one in fields])} if fields else {}
        run = RunName(f"0190b3a1-0000-7000-8000-{place:012d}", job)
        event = run_event(AT + place, RunState.COMPLETE, run, outputs=[dataset(output, facets=schema)])
        bodies.append(as_body(event))
        found |= {job, output, *(FieldName(output, one) for one in fields)}
    apply_bodies(store, bodies)
    return found


def as_body(event: dict[str, object]) -> bytes:
    return json.dumps(event).encode()


@pytest.fixture
def graph(store: Engine) -> Iterator[StoreGraph]:
    with reading(store) as connection:
        yield StoreGraph(connection)


def test_what_must_be_found_is_found_first(names: set[Node], graph: StoreGraph) -> None:
    dice = random.Random(7)
    tolerated = 0
    for _ in range(60):
        one = dice.choice(sorted(names, key=str))
        text = spoilt(dice, one.field if isinstance(one, FieldName) else one.name)
        if isinstance(one, FieldName) and dice.random() < 0.4:
            text = f"{one.dataset.name}.{text}"
        found = search(graph, text, 1_000)
        assert found.complete, text
        sure = {name for name in names if must_be_found(name, text, tolerant=False)}
        loose = not sure and not any(fits(name, text, False) is not None for name in names)
        levels = {name: fits(name, text, loose or name not in sure) for name in found.names}
        assert None not in levels.values(), (text, found.names)
        if sure or loose:
            assert {name for name in names if must_be_found(name, text, loose)} <= set(found.names), text
        own = [name for name in found.names if (name.field if isinstance(name, FieldName) else name.name) == text]
        assert own == list(found.names[: len(own)])
        tolerated += loose and bool(found.names)
        cut = search(graph, text, 3)
        assert set(cut.names) <= set(found.names)
        assert len(cut.names) == min(3, len(found.names))
    assert tolerated > 3


def test_words_begin_before_they_are_inside_before_they_are_like(store: Engine) -> None:
    given = ["revenue", "gold.revenue", "revenue_daily", "revenues", "prerevenue", "dailyRevenueTotal", "other"]
    load(store, [dataset_event(5, DatasetName("n", one), facets={}) for one in given])
    with reading(store) as connection:
        graph = StoreGraph(connection)
        found = [one.name for one in search(graph, "Revenue").names if isinstance(one, DatasetName)]
        assert found == ["revenue", "gold.revenue", "revenue_daily", "dailyRevenueTotal", "revenues", "prerevenue"]
        typos = [str(one) for one in search(graph, "revnue").names]
        assert typos[:2] == ["dataset:n:revenue", "dataset:n:gold.revenue"]
        assert search(graph, "dailyrevenuetotal").names == (DatasetName("n", "dailyRevenueTotal"),)
        assert search(graph, "n daily other").names == ()
        assert search(graph, "zzzzzzzz").names == ()


def test_owners_tags_and_descriptions_are_found_until_they_change(store: Engine) -> None:
    orders, job = DatasetName("n", "orders"), JobName("n", "load")
    tags = facet("TagsDatasetFacet", tags=[{"key": "pii", "value": "high", "field": "email"}, {"key": "finance"}])
    fields = [{"name": "email", "description": "where to write to"}, {"name": "id"}]
    about = {
        "tags": tags,
        "schema": facet("SchemaDatasetFacet", fields=fields),
        "documentation": facet("DocumentationDatasetFacet", description="What customers bought"),
        "ownership": facet("OwnershipDatasetFacet", owners=[{"name": "team-checkout"}]),
    }
    registered = RegistryKind.TAG.dataset_of("pii")
    doc = {"documentation": facet("DocumentationDatasetFacet", description="What customers bought")}
    load(store, [dataset_event(5, orders, facets=about), dataset_event(5, registered, facets=doc), job_event(5, job)])
    email = FieldName(orders, "email")
    expected = {
        "pii": ((email,), ("tag",)),
        "high": ((email,), ("tag",)),
        "finance": ((orders,), ("tag",)),
        "checkout": ((orders,), ("owner",)),
        "customers bought": ((orders,), ("description",)),
        "where": ((email,), ("description",)),
        "team bought": ((), ()),
    }
    for text, (found, by) in expected.items():
        assert searched(store, text) == (found, by), text
    changed = about | {"ownership": facet("OwnershipDatasetFacet", owners=[{"name": "team-billing"}])}
    later = dataset_event(6, orders, facets=changed | {"tags": deleted_facet("TagsDatasetFacet")})
    load(store, [later, dataset_event(4, orders, facets=about)], first=50)
    assert searched(store, "checkout") == ((), ())
    assert searched(store, "billing") == ((orders,), ("owner",))
    assert searched(store, "pii") == ((), ())
    before = rows(store)
    with writing(store) as connection:
        index_all(connection, chunk=2)
    assert rows(store)[1:] == before[1:]


def test_texts_without_letters_are_words_that_every_store_can_hold(store: Engine) -> None:
    odd = "-\0-"
    about = {
        "documentation": facet("DocumentationDatasetFacet", description="\0"),
        "tags": facet("TagsDatasetFacet", tags=[{"key": odd, "value": odd, "field": odd}]),
        "ownership": facet("OwnershipDatasetFacet", owners=[{"name": odd}]),
        "schema": facet("SchemaDatasetFacet", fields=[{"name": "a", "description": odd}]),
    }
    load(store, [dataset_event(5, DatasetName("n", "orders"), facets=about)])
    assert searched(store, "orders")[0][0] == DatasetName("n", "orders")
    assert searched(store, "-\ufffd-")[1] != ()


def test_the_index_is_a_function_of_the_events(store: Engine, names: set[Node]) -> None:
    grown = rows(store)
    with writing(store) as connection:
        index_all(connection, chunk=3)
    assert rows(store) == grown


def test_budgets_say_that_there_is_more(store: Engine) -> None:
    load(store, [dataset_event(5, DatasetName("n", f"a{place:03d}_common_word"), facets={}) for place in range(90)])
    with reading(store) as connection:
        found = search(StoreGraph(connection), "common word", 10)
        assert (len(found.names), found.complete) == (10, False)
        assert list(found.names) == [DatasetName("n", f"a{place:03d}_common_word") for place in range(10)]


@pytest.mark.parametrize("typed", ["orders payment", "orders paym", "order payment", "paym orders"])
def test_two_words_find_a_long_name_among_very_many(store: Engine, typed: str) -> None:
    """Each word is in more, and shorter, names than are read for one; the last word is typed in part."""
    short = [
        *(f"orders_{place:03d}" for place in range(MIN_NAMES_READ + 50)),
        *(f"payment_{place:03d}" for place in range(MIN_NAMES_READ)),
    ]
    long = DatasetName("n", "a_name_so_long_that_others_come_before_it_orders_and_payment")
    written = [dataset(DatasetName("n", one)) for one in short] + [dataset(long)]
    load(store, [run_event(5, RunState.COMPLETE, RunName(RUN, JobName("n", "load")), outputs=written)])
    with reading(store) as connection:
        assert search(StoreGraph(connection), typed, 10).names == (long,)


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_word_that_a_namespace_has_is_found_in_a_long_name_among_very_many(store: Engine, is_gone: bool) -> None:
    long = DatasetName("n", "a_name_so_long_that_others_come_before_it_orders_and_payment")
    short = [DatasetName("n", f"payment_{place:03d}") for place in range(MIN_NAMES_READ + 50)]
    run = RunName(RUN, JobName("n", "load"))
    load(store, [run_event(5, RunState.COMPLETE, run, outputs=[dataset(one) for one in (*short, long)])])
    gone = {LIFECYCLE: facet("LifecycleStateChangeDatasetFacet", lifecycleStateChange="DROP")} if is_gone else {}
    load(store, [dataset_event(6, DatasetName("orders_old", "x"), facets=gone)], 50)
    with reading(store) as connection:
        assert search(StoreGraph(connection), "orders payment", 10).names == (long,)


def test_a_filter_leaves_out_what_does_not_fit(names: set[Node], graph: StoreGraph) -> None:
    dice = random.Random(9)
    narrower = 0
    for _ in range(40):
        one = dice.choice(sorted(names, key=str))
        text = spoilt(dice, one.field if isinstance(one, FieldName) else one.name)
        kinds, spaces = dice.choice([(), ("field",), ("dataset", "JOB")]), dice.choice([(), ("s3://*",), SPACES[:1]])
        of_kind = {"field": FieldName, "dataset": DatasetName, "JOB": JobName}
        wanted = tuple(of_kind[kind] for kind in kinds) or (DatasetName, FieldName, JobName)
        found = search(graph, text, 1_000)
        narrow = search(narrowed(graph, Filter(kinds=kinds, namespaces=spaces)), text, 1_000)
        filter_matcher = [
            name
            for name in found.names
            if isinstance(name, wanted) and (not spaces or space_of(name).startswith(spaces[0].rstrip("*")))
        ]
        if filter_matcher:
            assert list(narrow.names) == filter_matcher, text
        assert {name for name in narrow.names if not isinstance(name, wanted)} == set()
        narrower += 0 < len(filter_matcher) < len(found.names)
    assert narrower > 5


def space_of(name: Node) -> str:
    return (name.dataset if isinstance(name, FieldName) else name).namespace


def test_a_search_with_a_filter_looks_on_until_it_has_enough(store: Engine) -> None:
    """Five hundred shorter names of another namespace come first, and as many that another team owns."""
    far, owned = DatasetName("far", "daily_orders_of_the_north"), DatasetName("near", "orders_of_everybody_in_the_team")
    tagged = FieldName(owned, "orders_total")
    about = {
        "ownership": facet("OwnershipDatasetFacet", owners=[{"name": "team-checkout"}]),
        "tags": facet("TagsDatasetFacet", tags=[{"key": "pii", "value": "high", "field": "orders_total"}]),
        "schema": facet("SchemaDatasetFacet", fields=[{"name": "orders_total"}, {"name": "orders_id"}]),
        "datasetType": facet("DatasetTypeDatasetFacet", datasetType="VIEW"),
    }
    written = [dataset(DatasetName("near", f"orders_{place:03d}")) for place in range(MIN_NAMES_READ + 100)]
    load(
        store,
        [
            run_event(5, RunState.COMPLETE, RunName(RUN, JobName("n", "load")), outputs=[*written, dataset(far)]),
            dataset_event(6, owned, facets=about),
        ],
    )
    expected: dict[Filter, tuple[Node, ...]] = {
        Filter(namespaces=("far",)): (far,),
        Filter(namespaces=("f*",), kinds=("dataset",)): (far,),
        Filter(namespaces=("far",), kinds=("field",)): (),
        Filter(owners=("team-checkout",), kinds=("dataset",)): (owned,),
        Filter(owners=("team-checkout",), kinds=("view",)): (owned,),
        Filter(tags=("pii=high",), kinds=("field",)): (tagged,),
        Filter(tags=("pii",), namespaces=("near",)): (tagged, owned),
        Filter(tags=("secret",)): (),
    }
    with reading(store) as connection:
        graph = StoreGraph(connection)
        for only, names in expected.items():
            found = search(narrowed(graph, only), "orders", 5)
            assert (found.names, found.complete) == (names, True), only
        some = search(narrowed(graph, Filter(namespaces=("near",), kinds=("dataset",))), "orders", 5)
        assert (len(some.names), some.complete) == (5, False)
        by_tag = search(narrowed(graph, Filter(namespaces=("near",))), "pii", 5)
        assert (by_tag.names, by_tag.by) == ((tagged,), ("tag",))
        assert search(narrowed(graph, Filter(namespaces=("far",))), "pii", 5).names == ()


def test_two_words_of_which_each_is_said_of_very_many(store: Engine) -> None:
    several = MAX_SCANNED_WORDS + 100
    about = ["customer"] * several + ["master"] * several + ["master of the customers"]
    described = [
        dataset(
            DatasetName("n", f"t{place}"), facets={"documentation": facet("DocumentationDatasetFacet", description=one)}
        )
        for place, one in enumerate(about)
    ]
    load(store, [run_event(5, RunState.COMPLETE, RunName(RUN, JobName("n", "load")), outputs=described)])
    last = DatasetName("n", f"t{2 * several}")
    with reading(store) as connection:
        graph = StoreGraph(connection)
        for words in (graph, narrowed(graph, Filter(namespaces=("n",)))):
            found = search(words, "customer master")
            assert (found.names, found.complete) == ((last,), True)
            some = search(words, "customer")
            assert (len(some.names), some.complete) == (50, False)


def searched(store: Engine, text: str) -> tuple[tuple[Node, ...], tuple[str, ...]]:
    with reading(store) as connection:
        found = search(StoreGraph(connection), text)
    return found.names, found.by


def load(store: Engine, events: list[dict[str, Any]], first: int = 1) -> None:
    apply_bodies(store, [as_body(one) for one in events], first)


def rows(store: Engine) -> list[list[tuple[Any, ...]]]:
    """The index, table by table; words first, of which some may be in no name any more."""
    with reading(store) as connection:
        return [sorted(tuple(row) for row in connection.execute(select(table))) for table in INDEX]
