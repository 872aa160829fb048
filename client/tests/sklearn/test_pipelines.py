"""Scikit-learn as a job uses it: models and predictions, against what the code says and against interventions."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
from client.tests.frames.sessions import Kept, capturing, describe, read_cases
from sklearn import (
    cluster,
    compose,
    decomposition,
    ensemble,
    feature_extraction,
    feature_selection,
    impute,
    linear_model,
    model_selection,
    neighbors,
    pipeline,
    preprocessing,
)
from sklearn.base import BaseEstimator, TransformerMixin

from whence_client.frames.pandas.hooks import PandasCapture
from whence_client.sklearn.hooks import SklearnCapture

CASES = read_cases("pipelines.txt", Path(__file__).parent)
ROWS = 24


class Doubler(TransformerMixin, BaseEstimator):
    """A transformer of a user."""

    def fit(self, X: Any, y: Any = None) -> "Doubler":
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X) * 2


def double(X: Any) -> Any:
    return X * 2


NAMES = {
    name: member
    for module in (
        *(cluster, compose, decomposition, ensemble, feature_extraction.text, feature_selection, impute),
        *(linear_model, model_selection, neighbors, pipeline, preprocessing),
    )
    for name, member in vars(module).items()
    if not name.startswith("_")
} | {"np": np, "Doubler": Doubler, "double": double}


def customers(seed: int) -> pd.DataFrame:
    """Rows of customers. `amount` is what separates those who leave; `visits` and `age` are noise."""
    random = np.random.default_rng(seed)
    churned = np.arange(ROWS) % 2
    return pd.DataFrame(
        {
            "id": range(ROWS),
            "age": random.integers(18, 80, ROWS),
            "amount": churned * 50 + random.random(ROWS),
            "visits": random.integers(1, 30, ROWS),
            "holes": np.where(np.arange(ROWS) % 5 == 0, np.nan, random.random(ROWS)),
            "constant": 1,
            "region": [["n", "s", "e"][n % 3] for n in range(ROWS)],
            "plan": [["a", "b"][n // 2 % 2] for n in range(ROWS)],
            "note": [["good", "bad"][n % 2] for n in range(ROWS)],
            "churned": churned,
        }
    )


@pytest.fixture
def session() -> Iterator[Kept]:
    with capturing(PandasCapture(), SklearnCapture()) as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables, written before the capture is on."""
    place = tmp_path_factory.mktemp("staging models ü")
    customers(1).to_csv(place / "train.csv", index=False)
    customers(2).to_csv(place / "new.csv", index=False)
    return place


def fit(folder: Path, at: Path, model: Any, columns: Any, target: str | None = "churned") -> Any:
    """The job of each case. Returns the model that it has loaded."""
    train, new = pd.read_csv(folder / "train.csv"), pd.read_csv(folder / "new.csv")
    model.fit(train[columns], *([train[target]] if target else []))
    joblib.dump(model, at / "model.joblib")
    loaded = joblib.load(at / "model.joblib")
    scored = new[["id"]].assign(p=loaded.predict(new[columns]))
    scored[["p"]].to_csv(at / "scored.csv", index=False)
    return loaded, new[columns] if isinstance(columns, list) else None


@pytest.mark.parametrize("name", CASES)
def test_lineage_is_what_the_code_says(name: str, session: Kept, folder: Path, tmp_path: Path) -> None:
    code, _, expected = CASES[name].partition("\n")
    loaded, new = eval(code, {**NAMES, "fit": partial(fit, folder, tmp_path)})
    trained, scored = session.events
    assert f"{describe(trained)}\n{describe(scored)}" == expected.strip()
    assert trained["outputs"][0]["facets"]["datasetType"]["datasetType"] == "MODEL"
    assert trained["outputs"][0]["name"] == str(tmp_path / "model.joblib")
    assert session.guard("sklearn").counts == {}
    if new is not None:
        sources = expected.strip().rpartition("p <-")[2].split()
        for column in moving_columns(loaded, new):
            assert f"new.{column}" in sources


def moving_columns(model: Any, new: pd.DataFrame) -> Iterator[str]:
    """The columns whose values change a prediction: each is set to its values in another order."""
    predict: Callable[[Any], Any] = getattr(model, "predict_proba", model.predict)
    before = predict(new)
    for column in new.columns:
        changed = new.assign(**{column: new[column].to_numpy()[::-1]})
        if not np.array_equal(predict(changed), before):
            yield column


def test_a_model_in_memory_is_a_dataset_of_its_job(session: Kept, folder: Path, tmp_path: Path) -> None:
    train, new = pd.read_csv(folder / "train.csv"), pd.read_csv(folder / "new.csv")
    grown = train[train["age"] > 18]
    first = linear_model.LogisticRegression().fit(grown[["amount"]], grown["churned"])
    second = linear_model.LogisticRegression().fit(train[["visits"]], train["churned"])
    never = linear_model.LogisticRegression().fit(train[["age"]], train["churned"])
    new["a"] = first.predict_proba(new[["amount"]])[:, 1]
    new["b"] = second.predict(new[["visits"]])
    never.predict(new[["age"]])
    session.events.clear()
    new[["id", "a", "b"]].to_csv(tmp_path / "scored.csv", index=False)
    one, two, scored = session.events
    assert describe(one) == "amount <- train.amount\ntarget <- train.churned\n* <- train.age:FILTER"
    assert describe(two) == "visits <- train.visits\ntarget <- train.churned"
    names = [event["outputs"][0]["name"].partition("/")[2] for event in (one, two)]
    assert names == ["LogisticRegression", "LogisticRegression-2"]
    assert {event["outputs"][0]["namespace"] for event in (one, two)} == {"dev"}
    assert describe(scored).splitlines() == [
        "id <- new.id",
        "a <- LogisticRegression.amount LogisticRegression.target new.amount",
        "b <- LogisticRegression-2.target LogisticRegression-2.visits new.visits",
    ]


def test_a_transformer_in_memory_adds_what_it_was_fitted_on(session: Kept, folder: Path, tmp_path: Path) -> None:
    train, new = pd.read_csv(folder / "train.csv"), pd.read_csv(folder / "new.csv")
    scaler = preprocessing.StandardScaler().set_output(transform="pandas").fit(train[["age", "amount"]])
    scaled = scaler.transform(new[["age", "amount"]])
    scaled["squared"] = preprocessing.Binarizer().fit_transform(new[["visits"]])[:, 0]
    scaled.to_csv(tmp_path / "scaled.csv", index=False)
    assert describe(session.events[-1]).splitlines() == [
        "age <- new.age train.age",
        "amount <- new.amount train.amount",
        "squared <- new.visits",
    ]


def test_labels_go_to_numbers_and_back(session: Kept, folder: Path, tmp_path: Path) -> None:
    train = pd.read_csv(folder / "train.csv")
    encoder = preprocessing.LabelEncoder()
    labels = encoder.fit_transform(train["plan"])
    X_train, _, y_train, _ = model_selection.train_test_split(train[["age"]].to_numpy(), labels, random_state=0)
    assert X_train.shape == (18, 1)
    model = neighbors.KNeighborsClassifier(2).fit(train[["age"]].to_numpy(), labels)
    back = encoder.inverse_transform(model.predict(train[["age"]].to_numpy()))
    pd.DataFrame({"plan": back}).to_csv(tmp_path / "out.csv", index=False)
    trained, written = session.events
    assert describe(trained) == "x0 <- train.age\ntarget <- train.plan"
    assert describe(written) == ("plan <- KNeighborsClassifier.target KNeighborsClassifier.x0 train.age train.plan")
    neighbors.KNeighborsClassifier(2).fit(X_train, y_train)


@pytest.mark.parametrize(
    "change",
    [
        lambda predicted: predicted.__setitem__(0, 1 - predicted[0]),
        lambda predicted: predicted.sort(),
    ],
)
def test_predictions_that_are_changed_in_place_are_of_unknown_origin(
    change: Any, session: Kept, folder: Path, tmp_path: Path
) -> None:
    train = pd.read_csv(folder / "train.csv")
    predicted = linear_model.LogisticRegression().fit(train[["amount"]], train["churned"]).predict(train[["amount"]])
    change(predicted)
    train[["id"]].assign(p=predicted).to_csv(tmp_path / "out.csv", index=False)
    assert describe(session.events[-1]) == "id <- train.id\np <- ! left_the_engine"


def test_what_nobody_saw_is_announced(session: Kept, folder: Path, tmp_path: Path) -> None:
    train = pd.read_csv(folder / "train.csv")
    data = [[one] for one in train["amount"].tolist()]
    model = linear_model.LogisticRegression().fit(data, train["churned"])
    train[["id"]].assign(p=model.predict(data)).to_csv(tmp_path / "out.csv", index=False)
    trained, written = session.events
    assert describe(trained) == "x0 <- ! left_the_engine\ntarget <- train.churned ! left_the_engine"
    assert describe(written).splitlines()[1].endswith("! left_the_engine")
    steps = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
    steps.fit(train[["amount"]], train["churned"])
    part = steps[:-1].set_output(transform="pandas").transform(train[["amount"]])
    part.to_csv(tmp_path / "part.csv", index=False)
    assert describe(session.events[-1]) == "amount <- train.amount ! not_captured"


def test_errors_are_those_of_scikit_learn(session: Kept, folder: Path) -> None:
    train = pd.read_csv(folder / "train.csv")
    with pytest.raises(ValueError, match="could not convert string"):
        linear_model.LogisticRegression().fit(train[["region"]], train["churned"])
    with pytest.raises(Exception, match="not fitted"):
        linear_model.LogisticRegression().predict(train[["age"]])
    assert not hasattr(pipeline.make_pipeline(preprocessing.StandardScaler()), "predict")
    assert session.guard("sklearn").counts == {}


def test_undo_leaves_the_very_objects_that_were_there() -> None:
    import pickle

    owners = (linear_model.LogisticRegression, pipeline.Pipeline, BaseEstimator, Doubler, joblib, pickle)
    before = {owner: dict(vars(owner)) for owner in owners}
    undo = SklearnCapture().install(Kept())
    SklearnCapture().install(Kept())()
    assert linear_model.LogisticRegression.fit is not before[linear_model.LogisticRegression]["fit"]

    class Later(TransformerMixin, BaseEstimator):
        def transform(self, X: Any) -> Any:
            return X

    assert hasattr(vars(Later)["transform"], "__wrapped__")
    undo()
    for owner, members in before.items():
        assert [name for name, one in vars(owner).items() if members.get(name) is not one] == []


def test_an_estimator_of_a_script_is_pickled_for_processes_without_whence(session: Kept, tmp_path: Path) -> None:
    """joblib's workers get the classes of a script whole (cloudpickle), with their methods."""

    class Doubled(TransformerMixin, BaseEstimator):
        def fit(self, X: Any, y: Any = None) -> "Doubled":
            self.n_features_in_ = 1
            return self

        def transform(self, X: Any) -> list[int]:
            return [2 * one for one in X]

    (tmp_path / "estimator").write_bytes(cloudpickle.dumps(Doubled()))
    loaded = (
        "import pickle, sys; sys.modules['whence_client'] = None; "
        f"print(pickle.load(open({str(tmp_path / 'estimator')!r}, 'rb')).fit_transform([1, 2]))"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[2, 4]\n", "")


def test_a_script_needs_no_change(folder: Path, tmp_path: Path) -> None:
    """`whence run` hooks scikit-learn when it is imported, before its modules are."""
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, pandas as pd\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import StandardScaler\n"
        f"train = pd.read_csv({str(folder / 'train.csv')!r})\n"
        "model = make_pipeline(StandardScaler(), LogisticRegression())\n"
        "model.fit(train[['age', 'amount']], train['churned'])\n"
        "train['p'] = model.predict_proba(train[['age', 'amount']])[:, 1]\n"
        f"train[['p']].to_csv({str(tmp_path / 'scored.csv')!r}, index=False)\n"
        "print(round(train['p'].sum()))\n"
    )
    driver = (
        "import sys, json\n"
        "sys.path[:0] = ['client/src', '.', 'tests']\n"
        "from client.tests.frames.sessions import Kept, describe\n"
        "from whence_client.captures import imports\n"
        "from whence_client.frames.pandas import capture as pandas\n"
        "from whence_client.sklearn import capture as sklearn\n"
        "captures = {'pandas': pandas, 'sklearn': sklearn}\n"
        "imports.points_by_module = lambda: captures\n"
        "imports.install_points = lambda capture, session, importer: capture.install(session)\n"
        "session = Kept()\n"
        "imports.install_on_import(session)\n"
        f"exec(open({str(script)!r}).read())\n"
        "print('\\n'.join(describe(event) for event in session.events))\n"
    )
    done = subprocess.run([sys.executable, "-c", driver], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "12",
        "age <- train.age",
        "amount <- train.amount",
        "target <- train.churned",
        "p <- LogisticRegression.age LogisticRegression.amount LogisticRegression.target train.age train.amount",
    ]
