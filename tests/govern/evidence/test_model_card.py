"""The card of a model in its pack: training, features and their raw columns, labels, what changed since, approvals."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Engine

from fixtures.logs_of_events import fill
from fixtures.migrated_stores import open_migrated
from fixtures.stores_of_events import apply
from govern.evidence.packs import PERSON_ADA, make, sources_of
from whence.cli.answers.model_card import card_lines, print_card
from whence.errors import QuestionError
from whence.govern.assertions import assert_facets
from whence.govern.evidence.statement import Files
from whence.govern.evidence.verify import verify_files
from whence.govern.gate.records import promotion_facets
from whence.log.segments.log import SegmentLog
from whence.log.segments.read import committed_end, read_records, start_position
from whence.model.access import OPEN, Grant, Role, Viewer
from whence.model.events import RunState
from whence.model.gate_records import PromotionRecord, promotion_dataset
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, RunName
from whence.openlineage.accept import accept
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.store.connection.engine import sqlite_url

HOUR = 3_600_000_000
NOW = 10 * HOUR
CRM, FEATURES, MODEL = DatasetName("raw", "crm.customers"), DatasetName("ml", "features"), DatasetName("ml", "churn")
EMAIL, SPENT = FieldName(CRM, "email"), FieldName(CRM, "spent")
KEY, MEAN, RICH = (FieldName(FEATURES, name) for name in ("key", "mean", "rich"))


def made(source: Node, target: Node, expression: str, *, masking: bool = False) -> Edge:
    return Edge(
        source=source,
        target=target,
        type="DIRECT",
        subtype="TRANSFORMATION",
        description=expression,
        masking=masking,
    )


def raw(amount: str) -> dict[str, Any]:
    schema = [{"name": "email", "type": "string"}, {"name": "spent", "type": amount}]
    tags = [{"key": "pii", "value": "true", "field": "email"}]
    return dataset(
        CRM, facets={"schema": facet("SchemaDatasetFacet", fields=schema), "tags": facet("TagsDatasetFacet", tags=tags)}
    )


def ran(number: int, job: str, source: dict[str, Any], target: DatasetName, *edges: Edge, **facets: Any) -> bytes:
    run = RunName(f"01890000-0000-7000-8000-{number:012}", JobName("ml", job))
    out = dataset(target, facets={"columnLineage": column_lineage(edges), **facets})
    return json.dumps(run_event(number * HOUR, RunState.COMPLETE, run, inputs=[source], outputs=[out])).encode()


BUILD = (
    made(EMAIL, KEY, "sha2(email, 256)", masking=True),
    made(SPENT, MEAN, "avg(spent)"),
    made(SPENT, RICH, "spent > 100"),
)
IS_MODEL = {"datasetType": facet("DatasetTypeDatasetFacet", datasetType="MODEL")}
TRAIN = tuple(made(one, MODEL, "fit()") for one in (KEY, MEAN, RICH))
PROMOTION = PromotionRecord(verdict="pass", node=str(MODEL))
BODIES = [
    ran(1, "build", raw("int"), FEATURES, *BUILD),
    ran(2, "train", dataset(FEATURES), MODEL, *TRAIN, **IS_MODEL),
    json.dumps(
        assert_facets(promotion_dataset(MODEL), 3 * HOUR, PERSON_ADA, promotion_facets(msgspec.to_builtins(PROMOTION)))
    ).encode(),
    ran(4, "build", raw("string"), FEATURES, *BUILD),
]


@pytest.fixture
def place(sqlite_store: Engine, tmp_path: Path) -> tuple[Engine, Path]:
    log = tmp_path / "log"
    fill(SegmentLog(log), [accept(body).payload for body in BODIES])
    apply(sqlite_store, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    return sqlite_store, log


def pack(place: tuple[Engine, Path], root: DatasetName = MODEL, at: int = NOW, viewer: Viewer | None = None) -> Files:
    with sources_of(*place, viewer or OPEN) as sources:
        return make(sources, root, at)


def test_the_card_of_a_model(place: tuple[Engine, Path], capsys: pytest.CaptureFixture[str]) -> None:
    files = pack(place)
    assert not verify_files(files, ()).problems
    card = json.loads(files["card.json"])
    assert [(one["job"], one["state"]) for one in card["training"]] == [("job:ml:train", "COMPLETE")]
    features = {one["node"]: one for one in card["features"]}
    assert {node: one["origins"] for node, one in features.items()} == {
        str(KEY): [str(EMAIL)],
        str(MEAN): [str(SPENT)],
        str(RICH): [str(SPENT)],
    }
    assert [one["grade"] for one in features[str(KEY)]["labels"]] == ["pseudonymous"]
    assert features[str(MEAN)]["labels"] == []
    assert {one["grade"] for one in card["labels"]} == {"influenced"}
    assert card["drift"]["since"] == "1970-01-01T02:00:00Z"
    (changed,) = [one for one in card["drift"]["changed"] if one["node"] == str(CRM)]
    assert any("spent" in fact["text"] and "string" in fact["text"] for fact in changed["evidence"])
    assert [one["promotion"]["verdict"] for one in card["promotions"]] == ["pass"]
    text = "\n".join(line.plain for line in card_lines(card))
    assert "features.key  pii pseudonymous\n    ← crm.customers.email" in text
    for form in ("text", "json", "html"):
        print_card(files, "churn", form)
    shown = capsys.readouterr().out
    assert "<script" not in shown
    assert shown.count("<h1>Model card</h1>") == 1


def test_a_new_version_of_the_code_is_among_what_changed_since_the_training(tmp_path: Path) -> None:
    """By what each run reported in the log: the store has only the latest version of a job."""
    store, log = open_migrated(sqlite_url(tmp_path / "store.db")), tmp_path / "log"
    bodies = [versioned(BODIES[0], "aaa111"), *BODIES[1:3], versioned(BODIES[3], "bbb222")]
    fill(SegmentLog(log), [accept(body).payload for body in bodies])
    apply(store, list(read_records(log, start_position(log), committed_end(log))), committed_end(log))
    (changed,) = (one for one in drift((store, log))["changed"] if one["node"] == str(FEATURES))
    assert [one["text"] for one in changed["evidence"] if "aaa111" in one["text"] and "bbb222" in one["text"]]
    assert not any("commit" in str(one) for one in drift((store, log))["not_known"])
    store.dispose()


def versioned(body: bytes, commit: str) -> bytes:
    """The run of a job whose code has a version."""
    event = json.loads(body)
    code = facet("SourceCodeLocationJobFacet", type="git", url="https://git.test/ml", version=commit)
    event["job"]["facets"] = {"sourceCodeLocation": code}
    return json.dumps(event).encode()


def drift(place: tuple[Engine, Path], at: int = NOW) -> Any:
    return json.loads(pack(place, at=at)["card.json"])["drift"]


def test_before_the_change_nothing_has_drifted(place: tuple[Engine, Path]) -> None:
    assert [one["node"] for one in drift(place, 3 * HOUR)["changed"] if one["node"] == str(CRM)] == []


def test_another_dataset_has_no_card(place: tuple[Engine, Path]) -> None:
    files = pack(place, FEATURES)
    assert not any(name.startswith("card.") for name in files)
    with pytest.raises(QuestionError, match="datasetType"):
        print_card(files, "features", "text")


def test_who_may_not_see_the_raw_data_reads_no_byte_of_it(place: tuple[Engine, Path]) -> None:
    viewer = Viewer(name="key:ml", grants=(Grant(Role.READER, "ml"),))
    files = pack(place, viewer=viewer)
    assert json.loads(files["card.json"])["features"]
    for content in files.values():
        assert b"crm" not in content
        assert b"spent" not in content
