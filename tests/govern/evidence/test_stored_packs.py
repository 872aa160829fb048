"""Packs of certified datasets beside their versions: in a directory and an object store, once each."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete

from fixtures.random_estates import AT, Estate
from fixtures.waits import wait_until
from govern.evidence.packs import LATER, bodies, fill_from, written_dataset
from whence.api.evidence.pack_stores import BucketOfPacks, DirectoryOfPacks, open_pack_store
from whence.api.evidence.schedule import JOB, EvidenceSchedule, EvidenceSettings, run_once
from whence.errors import EvidenceError
from whence.govern.evidence.archive import read_directory
from whence.govern.evidence.installation import Installation, heads_of
from whence.govern.evidence.signing.key_files import create_key, current_key
from whence.govern.evidence.signing.keys import Algorithm
from whence.govern.evidence.statement import ENVELOPE
from whence.govern.evidence.stored_packs import PackStore, place_of, store_packs
from whence.govern.evidence.verify import verify_files
from whence.govern.rule_states.records import RuleTransition, rule_transition_event
from whence.log.segments.log import SegmentLog
from whence.model.names import DatasetName
from whence.model.records.rule_transitions import RuleStateText, RuleTransitionRecord, rule_transition_id
from whence.openlineage.accept import accept
from whence.store.connection.engine import writing
from whence.store.status.periodic_jobs import read_runs, scheduled_job

ESTATE = Estate(3)
NAME = written_dataset(ESTATE)


def certification(name: DatasetName, state: RuleStateText) -> bytes:
    record = RuleTransitionRecord(rule_kind="certification", dataset=str(name), after=state)
    event = rule_transition_event(
        RuleTransition(id=rule_transition_id(record), time=AT + 470, dataset=name, record=record)
    )
    return accept(json.dumps(event).encode()).payload


@pytest.fixture
def installation(sqlite_store: Engine, tmp_path: Path) -> Installation:
    """An estate with a certified dataset, another that is not, and a key that signs."""
    other = next(one for one in ESTATE.datasets if one != NAME)
    certified = [certification(NAME, "certified"), certification(other, "not certified")]
    fill_from([*bodies(ESTATE), *certified], sqlite_store, tmp_path / "log")
    with writing(sqlite_store) as connection:
        connection.execute(delete(scheduled_job))
    create_key(tmp_path / "keys", Algorithm.ED25519, "2026-11-20T06:00:00Z")
    return Installation(
        store=sqlite_store,
        log=SegmentLog(tmp_path / "log"),
        security=None,
        keys=tmp_path / "keys",
        heads=tmp_path / "heads.jsonl",
    )


@pytest.mark.parametrize("bucket", [False, True])
def test_each_version_of_a_certified_dataset_has_its_pack_once(
    bucket: bool, installation: Installation, tmp_path: Path
) -> None:
    root = tmp_path / "packs"
    root.mkdir()
    packs: PackStore = BucketOfPacks(f"file://{root}") if bucket else DirectoryOfPacks(root)
    first = store_packs(installation, packs)
    (place,) = first.made
    assert (first.present, first.unwritten) == (0, 0)
    files = read_directory(root / place)
    key = current_key(installation.keys)
    assert key is not None
    found = verify_files(files, [key.public])
    assert (found.problems, found.signed_by) == ((), (key.public.id,))
    assert found.predicate is not None
    assert found.predicate["question"]["node"] == str(NAME)
    assert place.startswith(f"{NAME.namespace}/{NAME.name}/2026")
    again = store_packs(installation, packs)
    assert (again.made, again.present) == ((), 1)
    (root / place / ENVELOPE).unlink()
    if bucket:
        assert store_packs(installation, packs).made == (place,), "a pack without its envelope is not whole"
        assert read_directory(root / place) == files


def test_a_run_signs_the_next_head_and_the_next_pack_has_it(installation: Installation, tmp_path: Path) -> None:
    run_once(installation, str(tmp_path / "packs"), LATER)
    run_once(installation, str(tmp_path / "packs"), LATER + 10**6)
    assert len(heads_of(installation.heads)) == 2
    (statement,) = (tmp_path / "packs").glob(f"*/*/*/{ENVELOPE}")
    predicate = verify_files(read_directory(statement.parent), ()).predicate
    assert predicate is not None
    assert predicate["heads"]["count"] == 1


@dataclass
class Failing:
    """A place that is full."""

    def has(self, place: str) -> bool:
        return False

    def write(self, place: str, files: object) -> None:
        raise EvidenceError(place, "no space left")


def test_the_schedule_records_how_it_ended(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look() -> str:
        schedule = EvidenceSchedule(installation, EvidenceSettings(every=0.001, packs=str(tmp_path / "packs")))
        schedule._look()
        return read_runs(installation.store)[JOB].failure

    assert look() == ""
    monkeypatch.setattr("whence.api.evidence.schedule.open_pack_store", lambda _: Failing())
    assert "no space left" in look()


def test_the_schedule_runs_and_stops_in_a_loop(installation: Installation, tmp_path: Path) -> None:
    async def work() -> None:
        schedule = EvidenceSchedule(installation, EvidenceSettings(every=3_600, packs=str(tmp_path / "packs")))
        schedule.start()
        await asyncio.wait_for(asyncio.to_thread(_wait_for_run, installation), 30)
        await schedule.stop()

    asyncio.run(work())
    assert len(list((tmp_path / "packs").glob("*/*/2*"))) == 1


def _wait_for_run(installation: Installation) -> None:
    wait_until(lambda: JOB in read_runs(installation.store))


@pytest.mark.parametrize("name", ["..", ".", "../../etc", "a/b", "x" * 300, "ü" * 100, ""])
def test_a_place_stays_below_the_root(name: str) -> None:
    place = place_of(DatasetName(name or "-", name), AT)
    segments = place.split("/")
    assert len(segments) == 3
    assert not {".", ".."} & set(segments)
    assert all(len(one) < 200 for one in segments)
    assert segments[2] == "20260921T141320.000000Z"


def test_an_address_without_a_scheme_is_a_directory(tmp_path: Path) -> None:
    assert open_pack_store(str(tmp_path)) == DirectoryOfPacks(tmp_path)
    assert open_pack_store(f"file://{tmp_path}") == DirectoryOfPacks(tmp_path)
    assert isinstance(open_pack_store("s3://bucket/packs"), BucketOfPacks)


def test_a_bucket_that_cannot_be_reached_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")
    for name, value in {**dict.fromkeys(names, "x"), "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}.items():
        monkeypatch.setenv(name, value)
    bucket = open_pack_store("s3://bucket/packs")
    with pytest.raises(EvidenceError, match=r"^s3://bucket/packs: it cannot be read: [ -~]*not allowed$"):
        bucket.has("x")
    with pytest.raises(EvidenceError, match=r"^s3://bucket/packs: it cannot be written: [ -~]*not allowed$"):
        bucket.write("x", {"evidence.dsse.json": b"{}"})
