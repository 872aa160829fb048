"""`python -m nightly.mlflow.record`: runs the jobs on a real MLflow, and writes what a poll reads of it.

Paths and addresses are replaced: the fixture is the same on every machine but for times and ids.
"""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from nightly.mlflow.tracking import RELEASE, ROOT, tracking
from whence.capture.mlflow.records import RunRecord
from whence.capture.mlflow.source import capture
from whence_client.captures import Window

FIXTURE = ROOT / f"tests/capture/mlflow/mlflow-{RELEASE}.json"


def write_data(folder: Path) -> None:
    """The files that the jobs read."""
    customers = pd.DataFrame({"id": [1, 2, 3, 4], "age": [20.0, 30.0, 40.0, 50.0], "amount": [1.0, 2.0, 3.0, 4.0]})
    customers.assign(churned=[0, 0, 1, 1]).to_parquet(folder / "customers.parquet")
    customers.to_parquet(folder / "new.parquet")


def main() -> None:
    """Record."""
    with tempfile.TemporaryDirectory(prefix="whence-mlflow-") as directory:
        folder = Path(directory).resolve()
        write_data(folder)
        with tracking(folder) as server:
            variables = {
                "WHENCE_TRANSPORT": "off",
                "OPENLINEAGE_PARENT_ID": "prod/nightly/01941f29-7c00-7abc-8def-000000000001",
            }
            for words in (("train", "prod/churn", "churn"), ("train", "staging/churn", "churn"), ("states",)):
                server.run(*words, **variables)
            source = capture.configure({"uri": server.uri})
            records = [
                {"kind": "run" if isinstance(one, RunRecord) else "version", **asdict(one)}
                for one, _ in source.records(None, Window())
            ]
            text = json.dumps(records, indent=1, ensure_ascii=True)
            FIXTURE.write_text(text.replace(str(folder), "/lake").replace(str(ROOT), "/repo") + "\n")


if __name__ == "__main__":
    main()
