"""Pipelines of a shop: `python shop.py FOLDER`, in an environment with kfp, compiles them and runs them locally.

`pipelines` in the folder has what the compiler writes, `runs` what the local runner leaves.
"""

import functools
import sys
from pathlib import Path
from typing import Any, NamedTuple

from kfp import compiler, dsl, local
from kfp.dsl import HTML, ClassificationMetrics, Dataset, Input, Metrics, Model, Output

component = functools.partial(dsl.component, base_image="python:3.11", install_kfp_package=False)
FOLDER = Path(sys.argv[1]).resolve()
SECRET = "hush-4711"


@component
def clean(orders: Input[Dataset], table: Output[Dataset], rows: dsl.OutputPath(int), env: str = "dev") -> None:
    """Orders without those of tests."""
    Path = __import__("pathlib").Path
    Path(table.path).write_text(Path(orders.path).read_text("utf-8").upper(), "utf-8")
    table.metadata["rows"] = 3
    table.metadata["owner"] = 'zoë "the owner"; drop'
    Path(rows).write_text("3")


@component
def join(table: Input[Dataset], customers: Input[Dataset], joined: Output[Dataset]) -> None:
    """Orders with their customers."""
    Path = __import__("pathlib").Path
    Path(joined.path).write_text(Path(table.path).read_text("utf-8") + Path(customers.path).read_text("utf-8"), "utf-8")


@component
def train(
    table: Input[Dataset],
    model: Output[Model],
    metrics: Output[Metrics],
    curve: Output[ClassificationMetrics],
    depth: int = 3,
) -> float:
    """A model of churn."""
    __import__("pathlib").Path(model.path).write_text("m")
    model.metadata["framework"] = "none"
    metrics.log_metric("auc", 0.91)
    metrics.log_metric("rows", 3)
    curve.log_confusion_matrix(["stays", "goes"], [[1, 2], [3, 4]])
    return 0.91


@component
def score(model: Input[Model], table: Input[Dataset], region: str, scores: Output[Dataset]) -> None:
    """Scores of a region."""
    __import__("pathlib").Path(scores.path).write_text(region)


@component
def gather(scores: Input[list[Dataset]], report: Output[HTML]) -> None:
    """A report of all regions."""
    __import__("pathlib").Path(report.path).write_text("<p>")


@component
def publish(model: Input[Model], fails: bool, place: Output[Model]) -> None:
    """The model where others find it."""
    if fails:
        raise ValueError("no place: password=hush-4711")
    place.uri = "s3://models/churn/ü 1"


@component
def check(metrics: Input[Metrics]) -> bool:
    """Whether the model is good."""
    return bool(metrics.metadata["auc"] > 0.5)


@component
def tell(status: dsl.PipelineTaskFinalStatus) -> None:
    """The end of a pipeline."""
    __import__("sys").stdout.write(status.state)


class Trained(NamedTuple):
    """What a training has made."""

    model: Model
    metrics: Metrics
    auc: float


@dsl.pipeline
def training(table: Input[Dataset], depth: int) -> Trained:
    """A pipeline that is a task of another."""
    done = train(table=table, depth=depth)
    return Trained(done.outputs["model"], done.outputs["metrics"], done.outputs["Output"])


def shop_of(*, joins: bool) -> Any:
    """The pipeline, before and after it joined customers."""

    @dsl.pipeline(name="shop-churn", description="Churn of the shop, ü")
    def shop(orders: str, fails: bool = False, env: str = "dev") -> None:
        with dsl.ExitHandler(tell()):
            source = dsl.importer(artifact_uri=orders, artifact_class=Dataset, metadata={"env": env})
            table = clean(orders=source.output, env=env).outputs["table"]
            if joins:
                customers = dsl.importer(
                    artifact_uri=f"{FOLDER}/customers ü;.csv", artifact_class=Dataset, metadata={"token": SECRET}
                )
                table = join(table=table, customers=customers.output).outputs["joined"]
            trained = training(table=table, depth=4).set_display_name("Training ü")
            check(metrics=trained.outputs["metrics"])
            with dsl.ParallelFor(["eu", "us"]) as region:
                scored = score(model=trained.outputs["model"], table=table, region=region)
            gather(scores=dsl.Collected(scored.outputs["scores"]))
            with dsl.If(trained.outputs["auc"] > 0.5, "good"):
                publish(model=trained.outputs["model"], fails=fails)
            with dsl.Else("bad"):
                publish(model=trained.outputs["model"], fails=fails)

    return shop


@component
def split(day: str, part: Output[Dataset]) -> None:
    """A part of the orders."""
    __import__("pathlib").Path(part.path).write_text(day)


@component
def copy(part: Input[Dataset], place: str, copied: Output[Dataset]) -> None:
    """A copy of a part."""
    __import__("pathlib").Path(copied.path).write_text(place)


@dsl.pipeline
def parts_of(day: str) -> list[Dataset]:
    """The parts of a day."""
    with dsl.ParallelFor(["a", "b"]) as name:
        made = split(day=name)
    return dsl.Collected(made.outputs["part"])


@dsl.pipeline
def halve(day: str) -> Dataset:
    """A pipeline that is a task twice."""
    return split(day=day).outputs["part"]


@dsl.pipeline(name="parts")
def parts(day: str = "2026-11-29") -> None:
    """Loops in loops, of values and of artifacts."""
    with dsl.ParallelFor(parts_of(day=day).output) as part, dsl.ParallelFor(["x", "y"]) as place:
        copy(part=part, place=place)
    copy(part=halve(day=day).output, place="first")
    copy(part=halve(day="later").output, place="second")


@dsl.pipeline(name="nightly-orders")
def nightly(day: str) -> None:
    """A pipeline that fails: its table is not there."""
    source = dsl.importer(artifact_uri=f"s3://ada:{SECRET}@lake/raw/orders", artifact_class=Dataset)
    clean(orders=source.output, env=day)


def run(pipeline: Any, root: str, *, caches: bool = False, **arguments: object) -> None:
    """One run, whose failure is no error of this script."""
    runner = local.SubprocessRunner(use_venv=False)
    local.init(runner, pipeline_root=str(FOLDER / "runs" / root), raise_on_error=False, enable_caching=caches)
    pipeline(**arguments)


def main() -> None:
    """Compile and run."""
    (FOLDER / "pipelines").mkdir()
    old, new = shop_of(joins=False), shop_of(joins=True)
    for name, one in {"shop-1": old, "shop-2": new, "nightly orders ü": nightly, "parts": parts}.items():
        compiler.Compiler().compile(one, str(FOLDER / f"pipelines/{name}.yaml"))
    orders = f"{FOLDER}/orders 'ü' %20.csv"
    Path(orders).write_text("id,customer\n", "utf-8")
    (FOLDER / "customers ü;.csv").write_text("customer\n", "utf-8")
    run(old, "prod", orders=orders, env="prod")
    run(new, "prod", orders=orders, env="prod")
    run(new, "prod", orders=orders, env="prod", fails=True)
    run(new, "staging", orders=orders, env="staging", caches=True)
    run(new, "staging", orders=orders, env="staging", caches=True)
    run(nightly, "dev ü", day="2026-11-29")
    run(parts, "dev ü")


if __name__ == "__main__":
    main()
