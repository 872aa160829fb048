"""Random worlds in which every name is a word of its own, random policies, and what they hide, straight from words."""

import random
from dataclasses import dataclass, replace

from query.worlds.random_worlds import Statement, World, nodes_of, sets_of
from whence.model.access import Grant, Hiding, ReadingRestriction, Role, Viewer
from whence.model.lineage import Edge, Origin
from whence.model.names import DatasetName, FieldName, JobName, Node
from whence.store.schema.tables import FOREVER

NAMESPACES = ("nsalpha", "nsbeta", "nsgamma")
TYPES = ("DIRECT", "DIRECT", "INDIRECT", "UNKNOWN")


@dataclass(frozen=True)
class Policy:
    """Whose namespaces, hidden fields by number: `(dataset, number)`, and the fields that a policy restricts."""

    namespaces: frozenset[str]
    hidden: frozenset[tuple[str, int]]
    restricted: frozenset[FieldName] = frozenset()

    @property
    def viewer(self) -> Viewer:
        grants = tuple(Grant(Role.READER, one[:4] + "*" if len(one) > 4 else one) for one in sorted(self.namespaces))
        hidings = tuple(Hiding("ns*", name, f"col{number}*") for name, number in sorted(self.hidden))
        return Viewer(name="user:ada", grants=grants, hidings=hidings, restrictions=self.restrictions())

    def restrictions(self, readers: tuple[str, ...] = ()) -> tuple[ReadingRestriction, ...]:
        """What is restricted for all but these readers."""
        if not self.restricted:
            return ()
        return (ReadingRestriction(policy="restricted", readers=readers, fields=self.restricted),)

    def hides(self, field: FieldName) -> bool:
        """Whether a field is hidden under this name."""
        return (field.dataset.name, int(field.field[3])) in self.hidden or field in self.restricted


def producer(owner: Node) -> str:
    """The producer of what an owner says: names it."""
    return f"https://example.com/{owner}"


def world(dice: random.Random) -> World:
    """A random world of 3 to 7 datasets with two fields each, in three namespaces, and three jobs."""
    datasets = [DatasetName(dice.choice(NAMESPACES), f"tbl{letter}q") for letter in "abcdefg"[: dice.randint(3, 7)]]
    cut = dice.choice((0, 0, 2, 3))
    groups = (tuple(dice.sample(datasets, cut)),) if cut else ()
    of = {one: number for number, one in enumerate(datasets)} | {one: 77 for group in groups for one in group}
    fields = [
        FieldName(one, f"col{number}g{of[one]}z")
        for one in datasets
        for number in (0, 1)
        if of[one] != 77 or one == datasets[0] or dice.random() < 0.6
    ]
    jobs = [JobName(dice.choice(NAMESPACES), f"job{letter}q") for letter in "jkl"]
    owners: list[JobName | DatasetName] = [*jobs, *dice.sample(datasets, 1)]
    statements = [_statement(dice, owner, datasets, fields, jobs) for owner in owners]
    return World(statements=tuple(statements), groups=groups, declared=tuple(fields), jobs=tuple(jobs))


def policy(dice: random.Random, of: World) -> Policy:
    """A random policy."""
    namespaces = frozenset(one for one in NAMESPACES if dice.random() < 0.6)
    names = [one.name for one in nodes_of(of) if isinstance(one, DatasetName)]
    hidden = frozenset((name, number) for name in sorted(names) for number in (0, 1) if dice.random() < 0.15)
    fields = sorted((one for one in nodes_of(of) if isinstance(one, FieldName)), key=str)
    return Policy(namespaces, hidden, frozenset(one for one in fields if dice.random() < 0.1))


def group_of(of: World, dataset: DatasetName) -> tuple[DatasetName, ...]:
    """All names of a dataset, the one that it goes by first."""
    found = [group for group in of.groups if dataset in group]
    return (found[0][0], *sorted(found[0][1:])) if found else (dataset,)


def shown(of: World, rule: Policy, node: Node) -> Node | None:
    """The name that a canonical node goes by for the policy's viewer; None if it is hidden."""
    match node:
        case JobName():
            return node if node.namespace in rule.namespaces else None
        case DatasetName():
            return next((one for one in group_of(of, node) if one.namespace in rule.namespaces), None)
        case FieldName(dataset, field):
            whole = shown(of, rule, dataset)
            group = group_of(of, dataset)
            hides = any(rule.hides(FieldName(one, field)) for one in group)
            seen = {FieldName(one, field) for one in group if one.namespace in rule.namespaces}
            is_shown = len(group) == 1 or not seen.isdisjoint(nodes_of(of))
            return FieldName(whole, field) if isinstance(whole, DatasetName) and is_shown and not hides else None


def forbidden(of: World, rule: Policy) -> set[str]:
    """Texts of which none may be in any answer."""
    texts = {one for one in NAMESPACES if one not in rule.namespaces}
    for node in nodes_of(of):
        match node:
            case FieldName(_, field):
                texts |= {field} if shown(of, rule, node) is None else set()
            case _:
                texts |= {node.name} if node.namespace not in rule.namespaces else set()
    hidden = [statement for statement in of.statements if statement.owner.namespace not in rule.namespaces]
    texts |= {statement.run_id for statement in hidden} | {
        digest for statement in of.statements for _, digest in sets_of(statement)
    }
    return texts


def spelled(edges: tuple[tuple[Edge, Origin], ...]) -> tuple[tuple[Edge, Origin], ...]:
    """The edges, each that is of columns with an expression that names all that its target is made of."""
    sources = {
        one.target: ", ".join(str(other.source) for other, _ in edges if other.target == one.target) for one, _ in edges
    }
    return tuple(
        (replace(one, description=f"{one.target} = f({sources[one.target]})"), origin)
        if origin is Origin.COLUMN
        else (one, origin)
        for one, origin in edges
    )


def _statement(
    dice: random.Random,
    owner: JobName | DatasetName,
    datasets: list[DatasetName],
    fields: list[FieldName],
    jobs: list[JobName],
) -> Statement:
    pairs = [_pair(dice, datasets, fields, jobs) for _ in range(dice.randint(0, 9))]
    edges = spelled(tuple(_edge(dice, source, target) for source, target in pairs))
    return Statement(owner=owner, edges=edges, start=10, end=FOREVER, run_id=f"run-of-{owner.name}")


def _pair(
    dice: random.Random, datasets: list[DatasetName], fields: list[FieldName], jobs: list[JobName]
) -> tuple[Node, Node]:
    match dice.randrange(6):
        case 0:
            return dice.choice(datasets), dice.choice(datasets)
        case 1:
            return dice.choice(datasets), dice.choice(jobs)
        case 2:
            return dice.choice(jobs), dice.choice(datasets)
        case 3:
            return dice.choice(fields), dice.choice(datasets)
    return dice.choice(fields), dice.choice(fields)


def _edge(dice: random.Random, source: Node, target: Node) -> tuple[Edge, Origin]:
    if isinstance(source, JobName) or isinstance(target, JobName):
        return Edge(source=source, target=target), Origin.BOUNDARY
    return Edge(source=source, target=target, type=dice.choice(TYPES)), Origin.COLUMN
