"""Search by sensitivity labels: the labels of the whole estate are those of each node, for whoever asks."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import (
    BODIES,
    CRM,
    CRM_TAGS,
    DEV,
    EMAIL,
    FEATURES,
    PHONE,
    REPORT,
    SALARY,
    STAGING,
    USERS,
    made,
    of,
    ran,
    same,
    shaped,
    tagged,
)
from whence.errors import QuestionError
from whence.model.access import Grant, Role, Viewer
from whence.model.graph import Direction
from whence.model.ids import node_id
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.model.sensitivity import Grade
from whence.openlineage.write import dataset
from whence.query.answers.values import Filter, Question
from whence.query.lookup.search import Found
from whence.query.lookup.standings import NO_STANDINGS, Standings, read_standings
from whence.query.sensitivity.estate_labels import EstateLabels, label_estate
from whence.query.sensitivity.label_counts import count_labels
from whence.query.sensitivity.labelled_search import search_nodes
from whence.query.sensitivity.labels import SensitivityQuestion, sensitivity
from whence.query.sensitivity.marks import CATEGORIES
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.graph import VisibleGraph, seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

EVERYTHING = Filter()
HOSTILE = DatasetName("s3://prod", "mail | `list`\n<b>\u202egnirts " + "x" * 300)


@pytest.fixture
def graph(store: Engine) -> Iterator[StoreGraph]:
    apply_bodies(store, BODIES)
    with reading(store) as connection:
        yield StoreGraph(connection)


def estate(graph: StoreGraph) -> EstateLabels:
    return label_estate(StoreCatalog(graph.connection), graph)


def find(graph: StoreGraph, text: str, limit: int = 50, only: Filter = EVERYTHING) -> Found:
    return search_nodes(graph, only, text, limit, lambda: estate(graph), lambda: standings(graph))


def standings(graph: StoreGraph) -> Standings:
    """As rules of certification said them: they certified the users of two environments, and not those of another."""
    return read_standings(StoreCatalog(graph.connection), graph, {USERS: "certified", STAGING: "not certified"})


def graded(found: Found) -> list[tuple[Node, str, bool]]:
    first = (several[0] for several in found.labels)
    return [(name, one.grade.word, one.proven < one.grade) for name, one in zip(found.names, first, strict=True)]


def test_all_that_shows_personal_data_is_found_the_most_first(graph: StoreGraph) -> None:
    found = find(graph, "label:pii>=pseudonymous")
    assert graded(found) == [
        (REPORT, "full", False),
        (of(REPORT, "again"), "full", False),
        (of(REPORT, "one_contact"), "full", False),
        (FEATURES, "full", True),
        (of(FEATURES, "code"), "full", True),
        (CRM, "full", False),
        (EMAIL, "full", False),
        (PHONE, "full", False),
        (USERS, "full", False),
        (of(USERS, "contact"), "full", False),
        (STAGING, "full", False),
        (of(STAGING, "contact"), "full", False),
        (DEV, "pseudonymous", False),
        (of(DEV, "contact"), "pseudonymous", False),
        (of(FEATURES, "id"), "pseudonymous", False),
        (of(FEATURES, "last_hash"), "pseudonymous", True),
        (of(FEATURES, "secret"), "pseudonymous", True),
        (of(USERS, "email_hash"), "pseudonymous", False),
    ]
    assert (found.complete, found.not_labelled, set(found.by)) == (True, 0, {"label"})
    assert list(found.ranks) == sorted(found.ranks)


def test_words_and_filters_narrow_it(graph: StoreGraph) -> None:
    assert find(graph, "contact LABEL:PII>=Full").names == (
        *(of(USERS, "contact"), of(STAGING, "contact")),
        of(REPORT, "one_contact"),
    )
    only = Filter(namespaces=("s3://staging",), kinds=("field",))
    assert find(graph, "label:pii", only=only).names == (of(STAGING, "contact"),)
    both = find(graph, "label:pii>=influenced label:financial>=statistic")
    assert of(FEATURES, "mean_salary") in both.names
    assert SALARY not in both.names
    assert {len(several) for several in both.labels} == {2}
    assert find(graph, "load label:pii").names == ()


def test_a_page_is_the_beginning_of_the_whole_list(graph: StoreGraph) -> None:
    whole = find(graph, "label:pii")
    first = find(graph, "label:pii", limit=4)
    assert (first.names, first.complete) == (whole.names[:4], False)


@pytest.mark.parametrize(
    "text",
    ["label:", "label:pi", "label:pii>=ful", "label:pii>=", "label:pii>partial", "label:pii=ful", "certified:yes"],
)
def test_what_is_misspelt_is_refused_and_finds_nothing_silently(graph: StoreGraph, text: str) -> None:
    with pytest.raises(QuestionError):
        find(graph, f"orders {text}")


def test_one_grade_alone_is_found_and_counted_by_namespace(graph: StoreGraph) -> None:
    assert graded(find(graph, "label:pii=pseudonymous"))[:2] == [
        (DEV, "pseudonymous", False),
        (of(DEV, "contact"), "pseudonymous", False),
    ]
    counts = count_labels(graph, estate(graph))
    assert [(one.name, one.category) for one in counts.namespaces] == sorted(
        {(one.name, one.category) for one in counts.namespaces}
    )
    for one in counts.namespaces:
        for grade in Grade:
            only = Filter(namespaces=(one.name,), kinds=("field",))
            listed = graded(find(graph, f"label:{one.category}={grade.word}", only=only)) if grade else []
            assert one.columns.get(grade, 0) == len(listed)
        every = find(graph, f"label:{one.category}", only=only)
        assert one.datasets == len({name.dataset for name in every.names if isinstance(name, FieldName)})
        assert one.assumed == sum(assumed for _, _, assumed in graded(every))
    assert sum(sum(one.columns.values()) for one in counts.namespaces) > 10


def test_labels_are_counted_by_the_domain_of_the_dataset(store: Engine) -> None:
    """A tag `domain` of a column is none; one under an alias counts."""
    apply_bodies(store, BODIES)
    tags = [
        (CRM, [*CRM_TAGS, ("domain", "sales", ""), ("domain", "mail", "email")]),
        (USERS, [("domain", "<b>ops", "")]),
    ]
    runs = [
        ran(f"tag {at}", at, tagged(one, *some), DatasetName("s3://x", "x"), [])
        for at, (one, some) in enumerate(tags, 20)
    ]
    apply_bodies(store, runs, 100)
    with reading(store) as connection:
        graph = StoreGraph(connection)
        counts = count_labels(graph, estate(graph))
        columns = {(one.name, one.category): sum(one.columns.values()) for one in counts.domains}
        assert {name for name, _ in columns} == {"", "<b>ops", "sales"}
        for domain, of_domain in (("sales", CRM), ("<b>ops", USERS)):
            only = Filter(tags=(f"domain={domain}",), kinds=("field",))
            listed = find(graph, "label:pii", only=only).names
            assert columns[domain, "pii"] == len(listed) > 0
            assert {name.dataset for name in listed if isinstance(name, FieldName)} == {of_domain}
    total = sum(sum(one.columns.values()) for one in counts.namespaces)
    assert sum(columns.values()) == total


def test_what_is_certified_or_canonical_comes_first_and_is_searched_for(store: Engine) -> None:
    """Rules decide over the tag where there is one: `certified` in staging is of a dataset that they do not certify."""
    apply_bodies(store, BODIES)
    tags = [
        ran("tag", at, tagged(one, (key, "", "")), DatasetName("s3://x", "x"), [])
        for at, (one, key) in enumerate([(STAGING, "certified"), (DEV, "canonical")], 20)
    ]
    apply_bodies(store, tags, 100)
    with reading(store) as connection:
        graph = StoreGraph(connection)
        assert standings(graph) == {USERS: {"certified"}, DEV: {"canonical"}}
        users = find(graph, DEV.name, only=Filter(kinds=("dataset",)))
        of_name = dict(zip(users.names, users.standings, strict=True))
        assert of_name[DEV] == ("canonical",)
        assert find(graph, "certified:true").names == (USERS,)
        assert find(graph, "canonical:true certified:false").names == (DEV,)
        assert set(find(graph, "contact certified:true").names) == {of(USERS, "contact")}
        assert of(STAGING, "contact") in find(graph, "contact certified:false").names
        assert of(DEV, "contact") in find(graph, "label:pii=pseudonymous canonical:true").names
        contacts = find(graph, "contact", only=Filter(kinds=("field",)))
        is_preferred = [bool(several) for several in contacts.standings]
        assert is_preferred == sorted(is_preferred, reverse=True)
        assert is_preferred.count(True) == 2
        with pytest.raises(QuestionError, match="write words beside certified:false"):
            find(graph, "certified:false")


def test_a_removed_tag_takes_all_its_labels_with_it(store: Engine) -> None:
    apply_bodies(store, BODIES)
    apply_bodies(store, [ran("load users", 8, tagged(CRM, ("pii", "false", "email")), USERS, [])], 100)
    with reading(store) as connection:
        found = find(StoreGraph(connection), "label:pii")
    assert EMAIL not in found.names
    assert of(DEV, "contact") not in found.names


def test_columns_of_which_nothing_is_reported_are_counted(store: Engine) -> None:
    """A job reads the addresses and reports no columns: what is in its output is not known, nor beyond it."""
    opaque, beyond = DatasetName("s3://prod", "opaque"), DatasetName("s3://dev", "beyond")
    more = [
        ran("opaque", 7, dataset(USERS), opaque, []),
        ran("beyond", 8, dataset(opaque), beyond, [same(of(opaque, "a"), of(beyond, "a"))]),
    ]
    apply_bodies(store, BODIES)
    apply_bodies(store, more, 100)
    with reading(store) as connection:
        found = find(StoreGraph(connection), "label:pii>=full")
    assert of(opaque, "a") not in found.names
    assert (found.not_labelled, found.complete) == (2, False)


def test_hidden_tags_do_not_count_and_hidden_names_are_in_no_answer(graph: StoreGraph) -> None:
    viewer = Viewer(name="ann", grants=(Grant(role=Role.READER, namespaces="s3://dev"),))
    seen, whole = seen_by(viewer, b"secret", graph), StoreCatalog(graph.connection)
    assert isinstance(seen, VisibleGraph)
    catalog = VisibleCatalog(seen.visible_ids, replace(whole, scope=scope_of(viewer, whole.every_namespace())))
    found = search_nodes(seen, EVERYTHING, "label:pii", 50, lambda: label_estate(catalog, seen), lambda: NO_STANDINGS)
    assert (found.names, found.not_labelled, found.complete) == ((), 1, False)
    both = Viewer(
        name="bob", grants=tuple(Grant(role=Role.READER, namespaces=one) for one in ("s3://prod", "s3://dev"))
    )
    seen = seen_by(both, b"secret", graph)
    assert isinstance(seen, VisibleGraph)
    catalog = VisibleCatalog(seen.visible_ids, replace(whole, scope=scope_of(both, whole.every_namespace())))
    found = search_nodes(
        seen, EVERYTHING, "label:pii>=pseudonymous", 50, lambda: label_estate(catalog, seen), lambda: standings(graph)
    )
    assert of(DEV, "contact") in found.names
    assert not {"s3://staging", "bi://prod"} & {word for name in found.names for word in str(name).split(":report")}
    assert "staging" not in repr(found)
    assert "bi://" not in repr(found)
    hidden = search_nodes(
        seen, EVERYTHING, "certified:true", 50, lambda: label_estate(catalog, seen), lambda: {REPORT: {"certified"}}
    )
    assert hidden.names == ()


EXPRESSIONS = ("", "UPPER({0})", "SHA2({0}, 256)", "LEFT({0}, 2)", "AVG({0})", "my_udf({0})", "{0} > 3")


def random_bodies(dice: random.Random, number: int) -> list[bytes]:
    """Jobs between five datasets in three environments: copies, functions, filters, cycles, whole datasets."""
    spaces = ("s3://prod", "s3://staging", "s3://dev")
    several = [DatasetName(dice.choice(spaces), f"{number}/{name}") for name in "abcd"] + [HOSTILE]
    bodies = []
    for at in range(dice.randint(1, 6)):
        source, target = dice.sample(several, 2)
        tags = [
            (dice.choice(("pii", "phi", "financial")), dice.choice(("", "false")), dice.choice(("x", "y", "z", "")))
            for _ in range(dice.randint(0, 2))
        ]
        edges: list[Edge] = []
        for column in dice.sample(("x", "y", "z"), dice.randint(0, 3)):
            begin, text = of(source, dice.choice("xyz")), dice.choice(EXPRESSIONS)
            edges.append(
                made(begin, of(target, column), text.format(begin.field)) if text else same(begin, of(target, column))
            )
        if dice.random() < 0.3:
            edges.append(shaped(of(source, "x"), target, "FILTER"))
        bodies.append(ran(f"{number}.{at}", number * 10 + at + 1, tagged(source, *tags), target, edges))
    return bodies


def test_the_labels_of_the_estate_are_those_of_each_dataset(store: Engine) -> None:
    dice = random.Random("estates")
    apply_bodies(store, [body for number in range(40) for body in random_bodies(dice, number)])
    with reading(store) as connection:
        graph = StoreGraph(connection)
        labels = estate(graph)
        names = graph.nodes(labels.ids.tolist())
        place = {names[id_]: at for at, id_ in enumerate(labels.ids.tolist())}
        compared = 0
        for whole in sorted(one for one in place if isinstance(one, DatasetName)):
            asked = SensitivityQuestion(direction=Direction.UPSTREAM, range=Question(), at_least=Grade.INFLUENCED)
            expected = {
                (one.node, one.category): (one.grade, one.proven) for one in sensitivity(graph, whole, asked).labels
            }
            own = [one for one in place if isinstance(one, FieldName) and one.dataset == whole]
            for column in own:
                for category in CATEGORIES:
                    has = labels.at_most(category)[place[column]], labels.proven(category)[place[column]]
                    through = expected.get((whole, category), (Grade.NONE, Grade.NONE))
                    stated = expected.get((column, category), (Grade.NONE, Grade.NONE))
                    assert has == tuple(max(pair) for pair in zip(stated, through, strict=True)), (column, category)
                    compared += has[0] > 0
        assert compared > 100


def test_jobs_have_no_labels(graph: StoreGraph) -> None:
    labels = estate(graph)
    assert labels.places([node_id(JobName("prod", "report")), node_id(EMAIL)])[0] == -1
