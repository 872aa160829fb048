"""One random pipeline: captured once, then run again over inputs with one column changed, to see which outputs move."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from client.tests.frames.interventions.draws import Draws, Step
from client.tests.frames.interventions.tables import Tables, changes_of, make_tables, write_tables
from client.tests.frames.sessions import reasons_of

Outputs = dict[str, list[str]]


@dataclass(frozen=True)
class Engine:
    """A library: its steps, how it reads the inputs, writes the last frame, and shows the columns of that."""

    steps: Sequence[Step]
    read: Callable[[Path], Any]
    write: Callable[[Any, Path], None]
    show: Callable[[Any], Outputs]
    errors: tuple[type[Exception], ...]
    """What steps that do not fit together raise, `Unfit` among them."""


@dataclass
class Trial:
    """A pipeline and what it showed: `missed` influences are neither in the lineage nor announced."""

    seed: int
    steps: tuple[str, ...]
    seen: int = 0
    announced: int = 0
    missed: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Known:
    """The sources of the columns of an output, those of its rows, and the columns that are announced."""

    columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    rows: frozenset[str] = frozenset()
    announced: frozenset[str] = frozenset()


class Pipeline:
    """The pipeline of a seed in a folder of its own. Its first steps are, over all seeds, all steps in turn."""

    def __init__(self, engine: Engine, seed: int, folder: Path) -> None:
        self.engine, self.seed, self.folder = engine, seed, folder
        self.tables = make_tables(seed)
        self._draws = Draws(seed, folder)

    def run(self) -> Any:
        """The last frame of the inputs that are there. The same is drawn each time."""
        self._draws.rewind()
        frame, other = (self.engine.read(self.folder / f"{name}.parquet") for name in ("left", "right"))
        for step in self.steps():
            frame = step(self._draws, frame, other)
        return frame

    def steps(self) -> list[Step]:
        """The steps; draws them."""
        some, draws = self.engine.steps, self._draws
        draws.rewind()
        return [some[self.seed % len(some)], *(draws.one(some) for _ in range(draws.number(1, 4)))]

    def rerun(self, tables: Tables) -> Outputs | None:
        """The columns of the last frame of these inputs; None if the steps do not fit them."""
        write_tables(self.folder, tables)
        try:
            return self.engine.show(self.run())
        except self.engine.errors:
            return None


def run_trial(pipeline: Pipeline, install: Callable[[], Callable[[], None]], events: list[Any]) -> Trial | None:
    """Run a pipeline; None if its steps do not fit together. `install` puts captures in place and gives their undo."""
    engine = pipeline.engine
    write_tables(pipeline.folder, pipeline.tables)
    events.clear()
    undo = install()
    try:
        last = pipeline.run()
        before = engine.show(last)
        engine.write(last, pipeline.folder / "out.parquet")
    except engine.errors:
        return None
    finally:
        undo()
    return observe(pipeline, before, compose(events))


def observe(pipeline: Pipeline, before: Outputs, lineage: Known) -> Trial:
    """Change one input column after the other, and compare what moves with what the lineage says."""
    trial = Trial(pipeline.seed, tuple(one.__name__ for one in pipeline.steps()))
    assert pipeline.rerun(pipeline.tables) == before, f"the capture changed the result of {trial}"
    for changed, tables in changes_of(pipeline.tables, pipeline.seed):
        after = pipeline.rerun(tables)
        if after is not None:
            _compare(trial, changed, before, after, lineage)
    return trial


def _compare(trial: Trial, changed: str, before: Outputs, after: Outputs, lineage: Known) -> None:
    for moved in (one for one in before if before[one] != after.get(one)):
        trial.seen += 1
        if changed in lineage.columns[moved]:
            continue
        if moved in lineage.announced:
            trial.announced += 1
        else:
            trial.missed.append((changed, moved))


def compose(events: Sequence[Any]) -> Known:
    """The sources of the last output, through files that were written before."""
    known: dict[tuple[str, str], Known] = {}
    for event in events:
        output = event["outputs"][0]
        known[output["namespace"], output["name"]] = _of_output(event, output, known)
    return known[events[-1]["outputs"][0]["namespace"], events[-1]["outputs"][0]["name"]]


def _of_output(event: Any, output: Any, known: Mapping[tuple[str, str], Known]) -> Known:
    """What chose the rows of an input that was written before decides on the rows that are made of it."""
    if "schema" not in output["facets"]:
        return Known()  # a frame without columns
    lineage = output["facets"].get("columnLineage", {})
    announced = {name for name, reason in reasons_of(event).items() if reason != "no_source"}
    inputs = (known.get((one["namespace"], one["name"]), Known()) for one in event["inputs"])
    of_rows = (_sources_of(one, known) for one in lineage.get("dataset", ()))
    rows = frozenset().union(*(one.rows for one in inputs), *of_rows)
    columns = {}
    for name in (one["name"] for one in output["facets"]["schema"]["fields"]):
        edges = lineage.get("fields", {}).get(name, {}).get("inputFields", ())
        columns[name] = rows.union(*(_sources_of(one, known) for one in edges))
        if any(_is_announced(one, known) for one in (*edges, *lineage.get("dataset", ()))):
            announced.add(name)
    return Known(columns, rows, frozenset(announced))


def _sources_of(edge: Any, known: Mapping[tuple[str, str], Known]) -> frozenset[str]:
    upstream = known.get((edge["namespace"], edge["name"]), Known())
    return upstream.columns.get(edge["field"], frozenset((f"{Path(edge['name']).stem}.{edge['field']}",)))


def _is_announced(edge: Any, known: Mapping[tuple[str, str], Known]) -> bool:
    return edge["field"] in known.get((edge["namespace"], edge["name"]), Known()).announced


def summarize(trials: Sequence[Trial]) -> str:
    """A report for a person: counts, and the steps of pipelines that missed something."""
    seen, announced = sum(one.seen for one in trials), sum(one.announced for one in trials)
    missed = [(one.seed, one.steps, changed, moved) for one in trials for changed, moved in one.missed]
    lines = [
        f"{len(trials)} pipelines, {seen} influences seen, {seen - announced - len(missed)} in the lineage, "
        f"{announced} announced, {len(missed)} missed"
    ]
    return "\n".join([*lines, *(f"  {one}" for one in missed)])
