"""The DAGs of a shop in prod, staging and dev: assets, tries, a mapped task, failures, a run that assets trigger.

`test_recorded.py` of tests/capture/airflow has, written from this text, what is known of them.
"""

import os
import signal
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import DAG, Asset, BaseOperator, task
from airflow.sdk.exceptions import AirflowSkipException

SECRET = "hush-4711"


class Deferred(BaseOperator):  # type: ignore[misc]  # Airflow is in an environment of its own
    """Gives its worker back, and goes on after some seconds."""

    def __init__(self, *, seconds: int, **options: Any) -> None:
        super().__init__(**options)
        self.seconds = seconds

    def execute(self, context: Any) -> None:
        self.defer(trigger=TimeDeltaTrigger(timedelta(seconds=self.seconds)), method_name="resume")

    def resume(self, context: Any, event: Any = None) -> None:
        """The trigger fired."""


def make(stage: str) -> None:
    raw = Asset(f"file:///lake/{stage}/raw.csv")
    clean = Asset(f"s3://lake/{stage}/clean; drop 1")
    table = Asset(f"postgres://db:5432/shop/{stage}/orders")
    report = Asset(f"{stage} report")
    late = Asset(f"file:///lake/{stage}/late.csv")
    with DAG(
        dag_id=f"{stage}.orders",
        schedule=None,
        start_date=datetime(2026, 11, 1),
        catchup=False,
        description=f"What {stage} sold; <b>'\"",
        tags=["finance", "tier:gold; <b>"],
        default_args={"owner": "ann", "retry_delay": timedelta(0)},
    ):

        @task(outlets=[raw], owner="bob")
        def load(*, outlet_events: Any) -> None:
            outlet_events[raw].extra = {"rows": 3, "password": SECRET}

        @task(inlets=[raw], outlets=[clean], retries=1)
        def second_try(**context: Any) -> None:
            if context["ti"].try_number == 1:
                raise RuntimeError("not yet")

        @task(inlets=[clean], outlets=[table])
        def store() -> None:
            pass

        @task
        def part(number: int) -> int:
            return number

        @task(inlets=[clean], outlets=[Asset(f"file:///lake/{stage}/never.csv")])
        def boom() -> None:
            raise ValueError(f"kaput: password={SECRET}")

        @task
        def killed() -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        @task
        def never() -> None:
            """Its upstream fails."""

        @task
        def skips() -> None:
            raise AirflowSkipException("nothing to do")

        load() >> second_try() >> store()
        part.expand(number=[1, 2, 3])
        boom() >> never()
        killed()
        skips()
        Deferred(task_id="resumes", seconds=1, inlets=[raw], outlets=[late])

    with DAG(dag_id=f"{stage}.bericht_ü", schedule=[table], start_date=datetime(2026, 11, 1), catchup=False):

        @task(inlets=[table], outlets=[report])
        def write() -> None:
            pass

        write()

    with DAG(dag_id=f"{stage}.endless", schedule=None, start_date=datetime(2026, 11, 1), catchup=False):

        @task
        def waits() -> None:
            while not Path(os.environ["SHOP_RELEASE"]).exists():
                time.sleep(0.2)

        waits()
        Deferred(task_id="deferred", seconds=36_000)


for name in ("prod", "staging", "dev"):
    make(name)
