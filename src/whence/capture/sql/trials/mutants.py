"""Small changes of both versions that would matter: databases that do not show them are too weak to say anything."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from typing import Final

from sqlglot import exp

from whence.capture.sql.lineage import Table
from whence.capture.sql.trials.mutations import is_of_nulls, is_rare, others
from whence.capture.sql.trials.plans import Plan, Step
from whence.capture.sql.trials.probes import probe_of
from whence.model.names import DatasetName

MOST_NEAR: Final = 60
MOST_FAR: Final = 20
_PROBE: Final = Table(("whence_probe",))
_PROBED: Final = DatasetName("whence", "probe")
_WIDEST: Final = 40
"""Nodes of an expression whose columns are taken as those of a change in it."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A version with one small change, `text`, and a number of its own. `of`: 0 for the base, 1 for the head;
    `is_near`: of a part that the other version has not; `names`: those of the columns beside it, in lower case.
    `is_rare`: it differs for NULL, ties or rows that repeat or find none alone; `is_edit`: it is the other version.
    `probe`: the version that counts the rows in which it has another value in its place, and the values there.
    """

    number: int
    plan: Plan
    of: int
    text: str
    is_near: bool
    names: frozenset[str]
    is_rare: bool = False
    is_edit: bool = False
    probe: Plan | None = None


def mutants_of(base: Plan, head: Plan) -> list[Mutant]:
    """Those of the parts that the other version has not, and some of the rest of the base.

    The other version is one of them if it is a small change itself: that no database shows it says nothing then.
    """
    found = [*_candidates(0, base, head), *_candidates(1, head, base)]
    by_chance = sorted(found, key=lambda one: blake2b(one.text.encode(), digest_size=8).digest())
    near = [[one for one in by_chance if one.is_near and one.of == of] for of in (0, 1)]
    far = [one for one in by_chance if not one.is_near and one.of == 0]
    chosen = [*near[0][: MOST_NEAR // 2], *near[1][: MOST_NEAR // 2], *far[:MOST_FAR]]
    made = ((one, (base, head)[one.of], (head, base)[one.of]) for one in chosen)
    trees = ((one, plan, other, one.tree(plan)) for one, plan, other in made)
    kept = [(one, plan, other, tree) for one, plan, other, tree in trees if tree not in plan.statements]
    return [one.mutant(number, plan, other, tree) for number, (one, plan, other, tree) in enumerate(kept)]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A mutant that is not made yet. `place`: of the step, the statement, and the node that becomes `other`."""

    of: int
    place: tuple[int, int, int]
    other: exp.Expr
    text: str
    is_near: bool
    names: frozenset[str]
    is_rare: bool

    def tree(self, plan: Plan) -> exp.Expr:
        step, number, place = self.place
        if place == 0:
            return self.other
        copy = plan.steps[step].statements[number].copy()
        next(islice(copy.walk(), place, None)).replace(self.other)
        return copy

    def mutant(self, number: int, plan: Plan, other: Plan, tree: exp.Expr) -> Mutant:
        changed = _with(plan, *self.place[:2], tree)
        is_edit = tree in other.statements
        return Mutant(
            number, changed, self.of, self.text, self.is_near, self.names, self.is_rare, is_edit, self._probe(plan)
        )

    def _probe(self, plan: Plan) -> Plan | None:
        number, of_step, place = self.place
        if of_step > 0 or place == 0:
            return None
        query = probe_of(plan.steps[number].statements[0], place, self.other)
        if query is None:
            return None
        sql = query.sql("duckdb")
        step = Step(file="", sql=sql, statements=(query,), table=_PROBE, reads=frozenset(), writes=frozenset())
        return Plan(steps=(*plan.steps[:number], step), outputs={_PROBED: _PROBE})


def rewritten(plan: Plan) -> Plan:
    """A version in the spelling of its mutants: it must give the same."""
    texts = (";\n".join(one.sql("duckdb") for one in step.statements) for step in plan.steps)
    return replace(plan, steps=tuple(replace(step, sql=sql) for step, sql in zip(plan.steps, texts, strict=True)))


def changed_names(base: Plan, head: Plan) -> frozenset[str]:
    """The names of columns beside the parts that only one version has."""
    return frozenset(name for one, other in ((base, head), (head, base)) for name in _changed_names(one, other))


def _changed_names(one: Plan, other: Plan) -> Iterator[str]:
    kept = {node for statement in other.statements for node in statement.walk()}
    for statement in one.statements:
        for node in statement.walk():
            if node not in kept and all(child in kept for child in node.iter_expressions()):
                yield from _names_beside(node)


def _names_beside(node: exp.Expr) -> Iterator[str]:
    """The columns in the largest small expression around a node."""
    while (above := node.parent) is not None and not isinstance(above, (exp.Query, exp.From)):
        if sum(1 for _ in above.walk()) > _WIDEST:
            break
        node = above
    yield from (one.name.lower() for one in node.find_all(exp.Column))


def _candidates(of: int, plan: Plan, other: Plan) -> Iterator[_Candidate]:
    kept = {node for statement in other.statements for node in statement.walk()}
    for step, of_step in enumerate(plan.steps):
        for number, statement in enumerate(of_step.statements):
            for place, node in enumerate(statement.walk()):
                if node is statement and not isinstance(node, exp.Query):
                    continue
                is_part = isinstance(node, (exp.Literal, exp.Var)) and node.parent not in kept
                for changed in others(node):
                    text = f"{node.sql('duckdb')[:60]} as {changed.sql('duckdb')[:60]}"
                    is_near = (is_part or node not in kept) and not is_of_nulls(node, changed)
                    names = frozenset(_names_beside(node))
                    yield _Candidate(of, (step, number, place), changed, text, is_near, names, is_rare(node, changed))


def _with(plan: Plan, place: int, number: int, tree: exp.Expr) -> Plan:
    step = plan.steps[place]
    statements = (*step.statements[:number], tree, *step.statements[number + 1 :])
    sql = ";\n".join(one.sql("duckdb") for one in statements)
    changed = replace(step, sql=sql, statements=statements)
    return replace(plan, steps=(*plan.steps[:place], changed, *plan.steps[place + 1 :]))
