"""Models of Spark ML in a real Spark: what they were fitted on, where they are saved, and what they compute."""

import json
from pathlib import Path

import pytest
from client.tests.spark.job import Event, run_job

JOB = """
import json, sys
from pyspark.sql import SparkSession
from whence_client.spark import attach

base, events = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").appName("ml").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "512m")
builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
builder = builder.config("spark.sql.shuffle.partitions", "1")
spark = attach(builder, namespace="prod", events_file=events).getOrCreate()
# Only now: the capture waits for this import.
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.base import Estimator, Transformer
from pyspark.ml.classification import LogisticRegression, LogisticRegressionModel
from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import SQLTransformer, StringIndexer, VectorAssembler
from pyspark.ml.functions import vector_to_array
from pyspark.ml.util import JavaMLWriter
from pyspark.sql import functions as F

rows = [(n, "EU" if n % 3 else "o'US", float(n % 7), float(n % 5), float(n % 2), 1.0) for n in range(60)]
columns = "id int, region string, tenure double, charges double, churned double, weight double"
spark.createDataFrame(rows, columns).write.parquet(base + "/prod/features 1")
features = spark.read.parquet(base + "/prod/features 1")
assembled = VectorAssembler(inputCols=["tenure", "charges"], outputCol="features").transform(features)

# one model, saved, loaded and used
regression = LogisticRegression(labelCol="churned", weightCol="weight", maxIter=2)
model = regression.fit(assembled.where("id < 50"))
model.write().overwrite().save(base + "/models/churn")
loaded = LogisticRegressionModel.load(base + "/models/churn")
scored = loaded.transform(assembled)
p = vector_to_array("probability")[1].alias("p")
scored.select("id", p, F.col("prediction").cast("int").alias("label")).write.parquet(base + "/scores")

# a pipeline whose stages learn from each other
indexer = StringIndexer(inputCol="region", outputCol="region_index")
assembler = VectorAssembler(inputCols=["tenure", "region_index"], outputCol="features")
pipeline = Pipeline(stages=[indexer, assembler, LogisticRegression(labelCol="churned", maxIter=2)])
pipeline.fit(features).save(base + "/models/pipeline")
piped = PipelineModel.load(base + "/models/pipeline").transform(features)
piped.select("id", "prediction").write.parquet(base + "/piped")

# a model that nobody saves
clusters = KMeans(k=2, maxIter=2, seed=1).fit(assembled)
clusters.transform(assembled).select("id", F.col("prediction").alias("cluster")).write.parquet(base + "/clusters")

# functions of the user stay what they are
spark.udf.register("guess", lambda one, other: one, "double")
own = SQLTransformer(statement="select id, guess(tenure, charges) as g from __THIS__")
own.transform(features).write.parquet(base + "/own")
before = [vars(Estimator)["fit"], vars(Transformer)["transform"], vars(JavaMLWriter)["save"]]
spark.stop()
after = [vars(Estimator)["fit"], vars(Transformer)["transform"], vars(JavaMLWriter)["save"]]
patched = [hasattr(one, "__wrapped__") for one in after[:2]]
print(json.dumps([all(one is not other for one, other in zip(before, after)), patched]))
"""

FEATURES = "prod/features 1"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models").resolve()


@pytest.fixture(scope="module")
def outputs(base: Path) -> dict[str, Event]:
    """The COMPLETE event of each dataset that was written, by its path."""
    events = run_job(JOB, base, "[true, [false, false]]")
    ended = [one for one in events if one["outputs"] and one["eventType"] == "COMPLETE"]
    return {Path(one["outputs"][0]["name"]).relative_to(base).as_posix(): one for one in ended}


def lineage(event: Event, base: Path) -> dict[str, set[str]]:
    """Of each column, `dataset.column type subtype` of its sources; of the empty column what decides all rows."""
    found = event["outputs"][0]["facets"]["columnLineage"]
    fields = {"": found.get("dataset", ()), **{name: one["inputFields"] for name, one in found["fields"].items()}}
    return {
        name: {
            f"{Path(one['name']).relative_to(base).as_posix()}.{one['field']} {how['type']} {how['subtype']}"
            for one in sources
            for how in one["transformations"]
        }
        for name, sources in fields.items()
        if sources
    }


def inputs(event: Event, base: Path) -> list[str]:
    return [Path(one["name"]).relative_to(base).as_posix() for one in event["inputs"]]


def test_only_what_the_job_wrote_is_a_dataset(outputs: dict[str, Event]) -> None:
    assert set(outputs) == {
        FEATURES,
        "models/churn",
        "scores",
        "models/pipeline",
        "piped",
        "clusters",
        "own",
    }


def test_a_model_is_made_of_the_columns_that_it_was_fitted_on(outputs: dict[str, Event], base: Path) -> None:
    event = outputs["models/churn"]
    assert event["job"]["name"] == "ml.models.churn"
    assert inputs(event, base) == [FEATURES]
    assert event["outputs"][0]["facets"]["datasetType"]["datasetType"] == "MODEL"
    assert lineage(event, base) == {
        "": {f"{FEATURES}.id INDIRECT FILTER"},
        "features": {f"{FEATURES}.{one} DIRECT AGGREGATION" for one in ("tenure", "charges")},
        "churned": {f"{FEATURES}.churned DIRECT AGGREGATION"},
        "weight": {f"{FEATURES}.weight DIRECT AGGREGATION"},
    }


def test_a_prediction_comes_from_features_and_the_model(outputs: dict[str, Event], base: Path) -> None:
    event = outputs["scores"]
    assert inputs(event, base) == [FEATURES, "models/churn"]
    predicted = {f"{FEATURES}.{one} DIRECT TRANSFORMATION" for one in ("tenure", "charges")} | {
        f"models/churn.{one} DIRECT TRANSFORMATION" for one in ("features", "churned", "weight")
    }
    assert lineage(event, base) == {"id": {f"{FEATURES}.id DIRECT IDENTITY"}, "p": predicted, "label": predicted}
    assert "opaque_function" not in json.dumps(event)


def test_computed_columns_have_types(outputs: dict[str, Event]) -> None:
    fields = outputs["scores"]["outputs"][0]["facets"]["schema"]["fields"]
    assert {one["name"]: one["type"] for one in fields} == {"id": "integer", "p": "double", "label": "integer"}


def test_the_stages_of_a_pipeline_are_one_model(outputs: dict[str, Event], base: Path) -> None:
    assert lineage(outputs["models/pipeline"], base) == {
        "region": {f"{FEATURES}.region DIRECT AGGREGATION"},
        "features": {f"{FEATURES}.{one} DIRECT AGGREGATION" for one in ("tenure", "region")},
        "churned": {f"{FEATURES}.churned DIRECT AGGREGATION"},
    }
    assert inputs(outputs["piped"], base) == [FEATURES, "models/pipeline"]
    assert lineage(outputs["piped"], base)["prediction"] == {
        *(f"{FEATURES}.{one} DIRECT TRANSFORMATION" for one in ("tenure", "region")),
        *(f"models/pipeline.{one} DIRECT TRANSFORMATION" for one in ("region", "features", "churned")),
    }


def test_what_a_model_in_memory_learned_goes_straight_into_its_predictions(
    outputs: dict[str, Event], base: Path
) -> None:
    assert inputs(outputs["clusters"], base) == [FEATURES]
    assert lineage(outputs["clusters"], base)["cluster"] == {
        f"{FEATURES}.{one} DIRECT {how}" for one in ("tenure", "charges") for how in ("AGGREGATION", "TRANSFORMATION")
    }


def test_a_function_of_the_user_in_a_transformer_stays_opaque(outputs: dict[str, Event], base: Path) -> None:
    assert set(lineage(outputs["own"], base)["g"]) == {
        f"{FEATURES}.{one} DIRECT TRANSFORMATION" for one in ("tenure", "charges")
    }
    assert "opaque_function" in json.dumps(outputs["own"])
