"""The small changes that no database has shown yet."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from whence.capture.sql.trials.batches.answers import Answers, Batch, Outcomes
from whence.capture.sql.trials.batches.statements import ManySql, over_many
from whence.capture.sql.trials.execution import Failure, Laboratory, Outcome
from whence.capture.sql.trials.generation.tables import Database
from whence.capture.sql.trials.mutants import Mutant
from whence.capture.sql.trials.plans import Plan
from whence.model.names import DatasetName

LEAST_PROBED: Final = 12
"""Databases on which a small change has another value in its place. If the answers are the same, the query hides it."""
MOST_SURVIVING: Final = 0.34
"""The share of the small changes in other parts that the databases need not show: some change nothing."""
LEAST_VARIED: Final = 40
"""Databases on which the place of a small change has two values. If it never changes any, it changes none."""
LEAST_VARIED_OF_EDIT: Final = 100
"""The same, if the edit is the small change."""
_MOST_SINGLE: Final = 8
"""Databases out of a batch on which a small change is executed that no batch takes."""
_MOST_CONFIRMED: Final = 2


@dataclass(slots=True)
class Survivors:
    """`left`: the small changes of both versions (`plans`) that are still to be shown; `names`: the datasets in which
    they may show.
    """

    laboratory: Laboratory
    plans: tuple[Plan, Plan]
    names: Callable[[], Sequence[DatasetName]]
    left: list[Mutant] = field(default_factory=list)
    others: int = 0
    """How many there are of the parts that both versions have."""
    _probed: dict[int, int] = field(default_factory=dict)
    """The databases on which a small change has another value in its place, and none in the answer: how many."""
    _varied: dict[int, int] = field(default_factory=dict)
    """The databases on which the place of a small change has two values, and the same ones with it: how many."""
    _sqls: dict[tuple[int, bool], ManySql | None] = field(default_factory=dict)
    _executed: set[int] = field(default_factory=set)
    """The small changes that run on a database."""

    def start(self, mutants: Sequence[Mutant]) -> None:
        self.left = list(mutants)
        self.others = sum(not one.is_near for one in mutants)

    def drop_same(self, is_same: Callable[[Mutant], bool]) -> None:
        """Leave out those that are no changes."""
        self._leave({one.number: None for one in self.left if is_same(one)})

    def near(self) -> list[Mutant]:
        """Those of changed parts."""
        return [one for one in self.left if one.is_near and one.number in self._executed]

    def _open(self) -> list[Mutant]:
        """Those of changed parts without an excuse."""
        return [one for one in self.near() if not self._is_excused(one)]

    def _is_excused(self, mutant: Mutant) -> bool:
        """Whether a small change that needs NULL, ties or the like never has another value in its place, although every
        database offers these.
        """
        least = LEAST_VARIED_OF_EDIT if mutant.is_edit else LEAST_VARIED
        is_same = self._probed.get(mutant.number, 0) == 0
        return mutant.is_rare and is_same and self._varied.get(mutant.number, 0) >= least

    def doubt(self) -> str:
        """What the databases do not show, if that is too much."""
        if near := self._open():
            return f"no database shows {near[0].text}" + (f", and {len(near) - 1} more" if len(near) > 1 else "")
        far = [one for one in self.left if not one.is_near]
        left = [one for one in far if not self._is_excused(one)]
        others = self.others - len(far) + len(left)
        if len(left) > max(1, MOST_SURVIVING * others):
            return f"the databases show {others - len(left)} of {others} small changes of other parts only"
        return ""

    def show(self, is_tied: bool) -> bool:
        """Leave those that the loaded database does not show; whether it shows one of a changed part.

        `is_tied`: whether the order of rows decides there. Then only another number of rows shows something.
        """
        if not self.left:
            return False
        outcomes = [self.laboratory.run(plan) for plan in self.plans]
        judged = {one.number: self._judge(one, outcomes[one.of], is_tied) for one in self.left}
        hidden = {one.number for one in self.left if judged[one.number] is False and self._is_hidden(one)}
        shown = any(judged[one.number] and one.is_near for one in self.left)
        self._leave(judged | dict.fromkeys(hidden))
        return shown

    def show_many(
        self, batch: Batch, databases: Sequence[Database], outcomes: tuple[Outcomes, Outcomes], tied: set[int]
    ) -> Iterator[Database]:
        """Leave those that the databases of a loaded batch do not show; the databases that show one of a changed part.

        `outcomes`: what both versions make of them. What a batch shows is executed on the database alone, too.
        """
        by_number, judged = {one.number: one for one in databases}, dict[int, bool | None]()
        wanted: dict[int, list[Mutant]] = {}
        for mutant in self.left:
            numbers = self._numbers(mutant, batch, list(by_number), outcomes[mutant.of], tied)
            for number in numbers:
                wanted.setdefault(number, []).append(mutant)
            if not numbers and self._is_hidden_in(mutant, batch, list(by_number)):
                judged[mutant.number] = None
        for number, mutants in wanted.items():
            open_ = [one for one in mutants if one.number not in judged]
            self.laboratory.load(by_number[number])
            bases = {of: self.laboratory.run(self.plans[of]) for of in {one.of for one in open_}}
            found = {one.number: self._judge(one, bases[one.of], number in tied) for one in open_}
            judged |= {key: one for key, one in found.items() if one is not False}
            if any(found[one.number] and one.is_near for one in open_):
                yield by_number[number]
        self._leave(judged)

    def _numbers(
        self, mutant: Mutant, batch: Batch, numbers: Sequence[int], outcomes: Outcomes, tied: set[int]
    ) -> list[int]:
        """The databases that seem to show a small change: a few, or some on which it is to be executed alone."""
        found = self._run((mutant.number, False), mutant.plan, batch, numbers)
        if found is None or isinstance(found, Failure):
            return list(numbers[:_MOST_SINGLE])
        self._executed.add(mutant.number)
        names = self.names()
        shown = (n for n in numbers if any(_differ(outcomes[name], found[name], n, n in tied) for name in names))
        return list(islice(shown, _MOST_CONFIRMED))

    def _run(
        self, key: tuple[int, bool], plan: Plan, batch: Batch, numbers: Sequence[int]
    ) -> Outcomes | Failure | None:
        """What a small change, or its probe, makes of the loaded databases; None if no batch takes it."""
        if key not in self._sqls:
            self._sqls[key] = over_many(plan, batch.names)
        sql = self._sqls[key]
        return None if sql is None else batch.run(sql, numbers)

    def _leave(self, judged: Mapping[int, bool | None]) -> None:
        self.others -= sum(judged.get(one.number, False) is None and not one.is_near for one in self.left)
        self.left = [one for one in self.left if judged.get(one.number, False) is False]

    def _judge(self, mutant: Mutant, outcome: Outcome, is_tied: bool) -> bool | None:
        """Whether the loaded database shows a small change; None for one that does not run."""
        self.laboratory.check_time()
        found = self.laboratory.run(mutant.plan)
        if isinstance(found, Failure):
            return None if found.is_broken else False
        self._executed.add(mutant.number)
        return not isinstance(outcome, Failure) and any(
            len(outcome[name].rows) != len(found[name].rows)
            or (not is_tied and sorted(outcome[name].rows) != sorted(found[name].rows))
            for name in self.names()
        )

    def _is_hidden(self, mutant: Mutant) -> bool:
        """Whether a small change had another value in its place on many databases, and none in the answers."""
        if mutant.probe is None:
            return False
        found = self.laboratory.run(mutant.probe)
        if isinstance(found, Failure):
            return False
        return self._count(mutant, [tuple(map(int, row)) for rows in found.values() for row in rows.rows])

    def _is_hidden_in(self, mutant: Mutant, batch: Batch, numbers: Sequence[int]) -> bool:
        found = self._run((mutant.number, True), mutant.probe, batch, numbers) if mutant.probe is not None else None
        if found is None or isinstance(found, Failure):
            return False
        (answers,) = found.values()
        return self._count(mutant, [tuple(map(int, map(str, row))) for rows in answers.rows.values() for row in rows])

    def _count(self, mutant: Mutant, rows: Sequence[tuple[int, ...]]) -> bool:
        """Note for each database how many rows have another value, and how many values there are; whether it hides."""
        number = mutant.number
        self._probed[number] = self._probed.get(number, 0) + sum(changed > 0 for changed, _ in rows)
        self._varied[number] = self._varied.get(number, 0) + sum(not changed and many > 1 for changed, many in rows)
        return self._probed[number] >= LEAST_PROBED and not mutant.is_edit


def _differ(one: Answers, other: Answers, number: int, is_tied: bool) -> bool:
    """Whether two answers on a database differ, as far as both ran there."""
    if number not in one.rows or number not in other.rows:
        return False
    if is_tied:
        return len(one.rows[number]) != len(other.rows[number])
    return one.texts_of(number) != other.texts_of(number)
