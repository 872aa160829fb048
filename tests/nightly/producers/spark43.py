"""PySpark 4.3 with `attach`: what Whence says of a user's script with more than fifty kinds of statements."""

import json
from dataclasses import dataclass

import pytest

from nightly.producers.served import Flow, Lineage, Served, User, column_id, last_name
from nightly.producers.spark_truth import TRUTHS, Truth
from nightly.producers.spark_user import HERE, spark_user

SCRIPT = str(HERE / "spark_jobs" / "statements.py")
DEV_KINDS = ("csv_join", "udf")
FAILING = "failing_write"
WITH_SQL = (
    "temp_view ctas insert_into insert_overwrite cte_union grouping_sets scalar_subquery in_subquery lateral_view view"
)


@dataclass(frozen=True, slots=True)
class Ran:
    """The script as it ran in one environment."""

    namespace: str
    base: str

    def name(self, output: str) -> str:
        """What a path or table is called as a dataset."""
        return f"{self.base}/wh/{output}" if output.startswith("t_") else f"{self.base}/{output}"

    def short(self, name: str) -> str:
        """The path within the script's directory, or the table."""
        return name.removeprefix(f"{self.base}/").removeprefix("wh/").removeprefix("default.")


@pytest.fixture(scope="module")
def scripts(served: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """All statements in prod, and a few of them in dev, by two users."""
    made = {}
    for name, kinds in (("prod", ()), ("dev", DEV_KINDS)):
        base = tmp_path_factory.mktemp(name).resolve()
        key = served.user(f"spark-{name}", "writer", f"{name}*", "file*").key
        user = spark_user("spark43", base)
        done = user.run(SCRIPT, str(base / "data"), served.url, key, f"{name}.spark", *kinds)
        expected = "failed" if kinds else f"failed {FAILING}"
        assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, [expected]), done.stderr[-6000:]
        made[name] = Ran(f"{name}.spark", str(base / "data"))
    served.admin.await_all()
    return made


@pytest.fixture
def ran(scripts: dict[str, Ran]) -> Ran:
    return scripts["prod"]


@pytest.fixture
def user(served: Served) -> User:
    return served.admin


def lineage_of(user: User, ran: Ran, output: str) -> Lineage:
    return user.lineage("file", ran.name(output), ran.short)


REPLACED = pytest.mark.xfail(reason="each run of a job replaces the one before, of one application too")
"""Two statements of one script that write the same output are runs of one job (docs/how-to/producers.md)."""
UNSAID = pytest.mark.xfail(reason="an output without inputs is taken for data that was made there")
KNOWN = {"self_append": REPLACED, "local_checkpoint": UNSAID, "through_pandas": UNSAID}


@pytest.mark.parametrize("name", [pytest.param(one, marks=KNOWN.get(one, ())) for one in TRUTHS])
def test_the_lineage_of_a_statement_and_what_is_not_known_of_it(user: User, ran: Ran, name: str) -> None:
    check(user, ran, name, TRUTHS[name])


@pytest.mark.parametrize("name", DEV_KINDS)
def test_the_same_in_dev(user: User, scripts: dict[str, Ran], name: str) -> None:
    check(user, scripts["dev"], name, TRUTHS[name])


def check(user: User, ran: Ran, name: str, truth: Truth) -> None:
    found = lineage_of(user, ran, truth.output or name)
    values = {flow for flow in found.flows if flow.how.startswith("DIRECT")}
    others = found.flows - values
    assert values == truth.direct(name) | truth.wrong(name)
    assert {flow.source for flow in others} == set(truth.influences.split()) - set(truth.forgotten.split())
    assert found.gaps == {*truth.lost.split(), *truth.unsure.split()}
    written = {line.strip().partition(" = ")[0] for line in truth.values.splitlines()}
    nested = {one for one in found.columns for other in found.columns if one.startswith(f"{other}.")}
    assert found.columns - nested == written | set(truth.unsure.split())
    assert found.unconfirmed == set()


def test_a_failing_write(user: User, ran: Ran) -> None:
    (job,) = {name for name in user.jobs(ran.namespace) if name.endswith(".data_failing_write")}
    (run,) = user.runs(ran.namespace, job)
    assert run["state"] == "FAIL"
    assert "boom ann" in run["error"]
    found = lineage_of(user, ran, FAILING)
    assert not found.flows
    assert found.unconfirmed == frozenset({Flow("customers.name", "DIRECT TRANSFORMATION", "failing_write.x")})


def test_on_call_sees_the_failure_and_nothing_else(user: User, ran: Ran, scripts: dict[str, Ran]) -> None:
    assert {name.rpartition(".")[2] for name in user.troubles(ran.namespace, "failing")} == {"data_failing_write"}
    assert user.troubles(scripts["dev"].namespace, "failing") == {}
    assert user.troubles(ran.namespace, "late") == {}


def test_a_dropped_table(user: User, ran: Ran) -> None:
    dataset = user.dataset("file", ran.name("t_dropped"))
    assert dataset["deleted"] is True
    assert not {one for one in user.names("file") if one.endswith("t_dropped")}
    assert user.upstream(dataset["node"])["data"]["edges"] == []


def test_a_renamed_table_has_its_history(user: User, ran: Ran) -> None:
    assert user.dataset("file", ran.name("t_before"))["deleted"] is True
    answer = user.upstream(column_id("file", ran.name("t_after"), "name"), depth=2, types="direct")
    assert column_id("file", ran.name("customers"), "name") in {one["node"] for one in answer["data"]["nodes"]}


def test_a_created_table_is_written_by_nobody(user: User, ran: Ran) -> None:
    dataset = user.dataset("file", ran.name("t_created"))
    assert user.upstream(dataset["node"])["data"]["edges"] == []
    assert [one["kind"] for one in user.upstream(dataset["node"])["data"]["nodes"]] == ["dataset"]


def test_a_stream_into_files_is_unknown_and_not_wrong(user: User, ran: Ran) -> None:
    assert user.status(f"/api/v2/datasets/file/{ran.name('stream_to_files').replace('/', '%2F')}") == 404


def test_a_table_made_by_select_is_shown_once(user: User, ran: Ran) -> None:
    for table, column in (("t_ctas", "order_id"), ("t_saved", "segment"), ("t_written", "segment")):
        edges = user.upstream(column_id("file", ran.name(table), column))["data"]["edges"]
        assert len([one for one in edges if one["target"].endswith(f":{column}")]) == 1


def test_every_action_belongs_to_the_application_and_ended(user: User, scripts: dict[str, Ran]) -> None:
    for ran in scripts.values():
        jobs = user.jobs(ran.namespace)
        (application,) = (name for name in jobs if "." not in name)
        assert user.runs(ran.namespace, application)[0]["state"] == "COMPLETE"
        for name in set(jobs) - {application}:
            for run in user.runs(ran.namespace, name):
                assert run["parent"]["job"].endswith(f":{application}"), name
                assert run["state"] == ("FAIL" if name.endswith("failing_write") else "COMPLETE"), name


def test_no_statement_has_the_text_of_another(user: User, ran: Ran) -> None:
    """Listener 1.53.0 may send the SQL of an earlier statement with a DataFrame's job."""
    for name, truth in TRUTHS.items():
        write = user.dataset("file", ran.name(truth.output or name))["last_write"]
        if name not in WITH_SQL.split() and write:
            job = user.job(ran.namespace, last_name(write["job"]))
            assert job["sql"] is None or job["sql"]["status"] != "parsed", name


def test_nothing_was_withheld(user: User, scripts: dict[str, Ran]) -> None:
    spark = [one for one in user.producers() if "spark" in one["producer"]]
    assert sum(one["events"] for one in spark) > 200
    assert {one["restricted"] for one in spark} == {0}


def test_who_may_see_dev_sees_nothing_of_prod(served: Served, scripts: dict[str, Ran]) -> None:
    analyst = served.user("spark-analyst", "reader", "dev*")
    assert set(analyst.jobs("dev.spark")) == set(served.admin.jobs("dev.spark"))
    assert analyst.jobs("prod.spark") == {}


def test_at_the_terminal_a_lost_column_is_not_called_complete(served: Served, ran: Ran) -> None:
    for output in ("udf.loud", "pandas_udf.twice", "map_in_pandas.order_id"):
        name, column = output.split(".")
        shown = json.loads(served.run("upstream", column_id("file", ran.name(name), column), "-o", "json"))
        assert shown["complete"] is False, output
