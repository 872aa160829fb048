"""Packs over real stores and logs: complete, equal bytes, no hidden byte, and no change of a byte goes unnoticed."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import Engine

from fixtures.random_estates import AT, SPACES, Estate, forbidden
from govern.evidence.packs import (
    LATER,
    bodies,
    flips,
    make,
    signed_chain,
    sources_of,
    texts_in,
    write,
    written_dataset,
)
from govern.evidence.shipped_script import script_of
from whence.govern.evidence.archive import write_directory
from whence.govern.evidence.heads import Head
from whence.govern.evidence.pack import Signer
from whence.govern.evidence.signing.envelope import Envelope, Signature, read_envelope, signed_bytes, write_envelope
from whence.govern.evidence.signing.key_files import PublishedKey
from whence.govern.evidence.signing.keys import Algorithm, PublicKey, SigningKey
from whence.govern.evidence.statement import ENVELOPE, Files
from whence.govern.evidence.verify import verify_files
from whence.govern.signed_heads.prove import prove_events
from whence.govern.signed_heads.statement import read_signed_heads
from whence.log.segments.files import list_segments, segment_path
from whence.log.segments.log import SegmentLog
from whence.model.access import Grant, Hiding, Role, Viewer
from whence.model.names import DatasetName, Node, parse_node
from whence.openlineage.accept import accept
from whence.query.answers.values import dataset_of

FLIPS = 1_000
FLIPS_OF_SCRIPT = {Algorithm.ED25519: 15, Algorithm.P256: 3}
"""One of each file; with the other kind of key some."""
ESTATES, ESTATES_LONG = 2, 60


@dataclass(frozen=True)
class Place:
    """An estate in a store and a log."""

    estate: Estate
    engine: Engine
    log: Path


@pytest.fixture
def place(sqlite_store: Engine, tmp_path: Path) -> Place:
    """One estate."""
    return placed(sqlite_store, tmp_path / "log", 3)


def placed(engine: Engine, log: Path, seed: int) -> Place:
    estate = Estate(seed)
    write(estate, engine, log)
    return Place(estate, engine, log)


def signer(algorithm: Algorithm) -> tuple[Signer, PublicKey]:
    """A new key, and what publishes it."""
    key = SigningKey.generate(algorithm)
    pem = key.public.pem.decode()
    published = PublishedKey(
        id=key.public.id, algorithm=algorithm, created_at="2026-11-20T06:00:00Z", retired_at=None, pem=pem
    )
    return Signer(key=key, published=(published,)), PublicKey.read(pem.encode())


def lines(files: Files, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in files[name].splitlines()]


@pytest.mark.parametrize("algorithm", Algorithm)
def test_equal_sources_give_equal_bytes(algorithm: Algorithm, place: Place) -> None:
    by, key = signer(algorithm)
    root = written_dataset(place.estate)
    with sources_of(place.engine, place.log) as sources:
        first = make(sources, root, signer=by)
    with sources_of(place.engine, place.log) as sources:
        assert make(sources, root, signer=by) == first
    found = verify_files(first, [key])
    assert (found.problems, found.signed_by) == ((), (key.id,))


def test_every_edge_has_its_events_as_they_were_sent(place: Place) -> None:
    with sources_of(place.engine, place.log) as sources:
        files = make(sources, written_dataset(place.estate))
    lineage = json.loads(files["lineage.json"])
    assert lineage["edges"]
    named = {
        one[seen]["event"]
        for edge in lineage["edges"]
        for one in edge["evidence"]
        for seen in ("first_seen", "last_seen")
    }
    events = {str(one["event"]): one for one in lines(files, "events.jsonl")}
    assert events.keys() == named
    for key, one in events.items():
        assert (one["state"], one["payload"]) == ("whole", json.loads(place.estate.events[key][1]))
        assert accept(json.dumps(one["payload"]).encode()).key == key
    runs = {one["run"] for one in json.loads(files["runs.json"])["runs"]}
    assert runs == {run["run"] for edge in lineage["edges"] for one in edge["evidence"] for run in one["runs"]}


def test_records_of_the_gate_are_those_of_its_nodes(place: Place) -> None:
    root = written_dataset(place.estate)
    with sources_of(place.engine, place.log) as sources:
        late, early = make(sources, root), make(sources, root, AT + 499)
    gate = json.loads(late["gate.json"])
    lineage = json.loads(late["lineage.json"])
    nodes = {lineage["root"], *(one["node"] for one in lineage["nodes"])}
    assert {one["promotion"]["node"] for one in gate["promotions"]} == {one for one in nodes if "dataset:" in one}
    assert len(gate["verdicts"]) == len(gate["approvals"]) == len(gate["waivers"]) == len(place.estate.datasets)
    assert {one["person"] for one in gate["approvals"]} == {"ada"}
    assert json.loads(early["gate.json"]) == {"verdicts": [], "approvals": [], "waivers": [], "promotions": []}


def test_events_that_the_log_has_no_more_are_reported(place: Place) -> None:
    with sources_of(place.engine, place.log) as sources:
        before = make(sources, written_dataset(place.estate))
        for number in list_segments(place.log):
            segment_path(place.log, number).unlink()
        after = make(sources, written_dataset(place.estate))
    assert {one["state"] for one in lines(after, "events.jsonl")} == {"missing"}
    assert after["lineage.json"] == before["lineage.json"]
    assert verify_files(after, ()).problems == ()
    assert b"does not have" in after["report.html"]


def test_a_pack_of_the_past_has_what_was_known_then(place: Place) -> None:
    with sources_of(place.engine, place.log) as sources:
        files = make(sources, written_dataset(place.estate), AT - 1)
    assert json.loads(files["lineage.json"])["edges"] == []
    assert files["events.jsonl"] == b""
    assert json.loads(files["lineage.json"])["completeness"]["stopped_by"] == "beginning"
    assert verify_files(files, ()).problems == ()


def chain(place: Place, by: Signer) -> tuple[Head, ...]:
    """Four heads: two before the time of packs, one that covers it, and one after that."""
    assert by.key is not None
    return signed_chain(place.log, by.key, (LATER - 10**12, LATER - 10**9, LATER + 10**9, LATER + 10**12))


def test_a_cut_of_the_log_is_proven_by_the_heads_in_a_pack(place: Place) -> None:
    by, key = signer(Algorithm.ED25519)
    heads = chain(place, by)
    with sources_of(place.engine, place.log, heads=heads) as sources:
        files = make(sources, written_dataset(place.estate), signer=by)
        more = replace(sources, heads=(*heads, *heads))
        assert make(more, written_dataset(place.estate), signer=by) == files, "later heads change nothing"
    kept = read_signed_heads(files["heads.jsonl"])
    assert len(kept) == 3
    whole = prove_events(SegmentLog(place.log), kept, [key])
    assert (whole.problems, whole.records) == ((), len(bodies(place.estate)))
    last = segment_path(place.log, list_segments(place.log)[-1])
    last.write_bytes(last.read_bytes()[:-50])
    assert prove_events(SegmentLog(place.log), kept, [key]).problems != ()


def test_a_liars_chain_of_heads_is_found(place: Place, tmp_path: Path, bare: dict[str, str]) -> None:
    by, key = signer(Algorithm.ED25519)
    with sources_of(place.engine, place.log, heads=chain(place, by)) as sources:
        files = make(sources, written_dataset(place.estate), signer=by)
    script = script_of(key, tmp_path, bare)
    first, second, third = files["heads.jsonl"].splitlines(keepends=True)
    for lied in (b"", first + second, second + third, third, first + third):
        changed = signed_anew({**files, "heads.jsonl": lied}, by)
        assert [one.file for one in verify_files(changed, [key]).problems] == ["heads.jsonl"]
    for lied in (first + second, first + third):
        changed = signed_anew({**files, "heads.jsonl": lied}, by)
        verified, printed = script.verify(changed)
        assert not verified
        assert "heads.jsonl" in printed


def test_objectives_and_policies_are_those_of_its_nodes(place: Place) -> None:
    root = written_dataset(place.estate)
    with sources_of(place.engine, place.log) as sources:
        late, early = make(sources, root), make(sources, root, AT + 399)
    lineage = json.loads(late["lineage.json"])
    named = [parse_node(one) for one in (lineage["root"], *(one["node"] for one in lineage["nodes"]))]
    nodes = {str(of) for one in named if one is not None and (of := dataset_of(one)) is not None}
    slos, policies = json.loads(late["slos.json"])["slos"], json.loads(late["policies.json"])
    assert {one["slo"]["dataset"] for one in slos} == nodes
    assert {tuple(each["after"] for each in one["transitions"]) for one in slos} == {("violated",)}
    assert all(one["declared"][0]["text"] for one in slos)
    spaces = {name.namespace for one in nodes if isinstance(name := parse_node(one), DatasetName)}
    assert {one["namespace"] for one in policies["policies"]} == spaces
    decided = {(one["node"], one["outcome"]) for one in policies["decisions"]["findings"]}
    assert decided == {(one, "violated") for one in nodes}
    assert {one["node"] for one in policies["transitions"]} == nodes
    assert json.loads(early["slos.json"]) == {"slos": []}
    assert json.loads(early["policies.json"]) == {"policies": [], "decisions": None, "transitions": []}


def policies(dice: random.Random, estate: Estate) -> Iterator[tuple[Viewer, set[str]]]:
    """Random viewers, and the words that they may not see."""
    for count in (1, 2, 3):
        spaces = frozenset(dice.sample(SPACES, count))
        hidden = [estate.fields(one)[0] for one in dice.sample(estate.datasets, 2)]
        hidings = tuple(Hiding("ns*", one.dataset.name, "col0*") for one in hidden)
        grants = tuple(Grant(Role.READER, one) for one in sorted(spaces))
        yield Viewer(name="key:reader", grants=grants, hidings=hidings), forbidden(estate, spaces, hidden)


def test_a_viewers_pack_has_no_hidden_byte(sqlite_store: Engine, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    by, key = signer(Algorithm.ED25519)
    made, cut = 0, 0
    for seed in range(ESTATES_LONG if pytestconfig.getoption("--long") else ESTATES):
        here = placed(sqlite_store, tmp_path / f"log{seed}", seed)
        whole = whole_hashes(here)
        for viewer, words in policies(random.Random(seed), here.estate):
            visible: list[Node] = [one for one in here.estate.names if viewer.can_see(one)]
            with sources_of(here.engine, here.log, viewer, chain(here, by)) as sources:
                for root in visible:
                    files = make(sources, root, signer=by)
                    assert texts_in(files, words) == []
                    assert files["heads.jsonl"] == b"", "hashes of records that the viewer may not see"
                    assert json.loads(files["slos.json"])["slos"] or root not in here.estate.datasets
                    assert verify_files(files, [key]).problems == ()
                    events = lines(files, "events.jsonl")
                    hashes = {str(one["event"]): one["hash"] for one in events if one["hash"]}
                    assert hashes.items() <= whole.items()
                    made += 1
                    cut += sum(one["state"] == "cut" for one in events)
    assert min(made, cut) > 10


def whole_hashes(place: Place) -> dict[str, object]:
    """The hash of each event in the packs of somebody who may see all: the cut ones must have the same."""
    found: dict[str, object] = {}
    with sources_of(place.engine, place.log) as sources:
        for root in place.estate.names:
            found |= {str(one["event"]): one["hash"] for one in lines(make(sources, root), "events.jsonl")}
    return found


@pytest.mark.parametrize("algorithm", Algorithm)
def test_every_flipped_byte_is_found(algorithm: Algorithm, place: Place) -> None:
    by, key = signer(algorithm)
    with sources_of(place.engine, place.log, heads=chain(place, by)) as sources:
        files = make(sources, written_dataset(place.estate), signer=by)
    dice = random.Random(f"flips {algorithm}")
    assert verify_files(files, [key]).problems == ()
    for name, changed in flips(files, dice, FLIPS // 2):
        assert verify_files({**files, name: changed}, [key]).problems != (), name


def test_files_that_come_or_go_are_found(place: Place) -> None:
    by, key = signer(Algorithm.ED25519)
    with sources_of(place.engine, place.log) as sources:
        files = make(sources, written_dataset(place.estate), signer=by)
    for name in files:
        rest = {one: content for one, content in files.items() if one != name}
        assert [one.file for one in verify_files(rest, [key]).problems] == [name]
    assert verify_files({**files, "more.json": b"{}"}, [key]).problems != ()
    _, other = signer(Algorithm.ED25519)
    assert verify_files(files, [other]).signed_by == ()
    assert verify_files(files, [other]).problems != ()


@pytest.mark.parametrize("name", ["events.jsonl", "leaves.jsonl", "lineage.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"{}", b"\xff", b"[" * 100_000])
def test_signed_files_of_another_form_are_problems(name: str, content: bytes, place: Place) -> None:
    by, key = signer(Algorithm.ED25519)
    with sources_of(place.engine, place.log) as sources:
        files = make(sources, written_dataset(place.estate), signer=by)
    odd = signed_anew({**files, name: content}, by)
    assert verify_files(odd, [key]).problems != ()
    assert verify_files(odd, ()).problems != ()


@pytest.mark.parametrize("payload", [b"", b"[]", b"{}", b'{"_type":"x"}', b"[" * 100_000, b"\xff"])
def test_an_envelope_of_something_else_is_a_problem(payload: bytes) -> None:
    assert verify_files({ENVELOPE: write_envelope(Envelope(payload))}, ()).predicate is None


@pytest.mark.parametrize("algorithm", Algorithm)
def test_the_script_finds_flipped_bytes_without_python(
    algorithm: Algorithm, place: Place, tmp_path: Path, bare: dict[str, str]
) -> None:
    by, key = signer(algorithm)
    with sources_of(place.engine, place.log, heads=chain(place, by)) as sources:
        files = make(sources, written_dataset(place.estate), signer=by)
    script = script_of(key, tmp_path, bare)
    verified, printed = script.verify(files)
    assert verified, printed
    assert f"signed by the key {key.id}" in printed
    assert "heads of the logs: 3" in printed
    dice = random.Random(f"script {algorithm}")
    envelopes = flips({ENVELOPE: files[ENVELOPE]}, dice, 3)
    for name, changed in (*flips(files, dice, FLIPS_OF_SCRIPT[algorithm]), *envelopes):
        verified, printed = script.verify({**files, name: changed})
        assert not verified, (name, printed)
        assert "NOT VERIFIED" in printed


def test_the_script_verifies_what_is_left_of_events(sqlite_store: Engine, tmp_path: Path, bare: dict[str, str]) -> None:
    by, key = signer(Algorithm.ED25519)
    files = cut_pack(sqlite_store, tmp_path, by)
    script = script_of(key, tmp_path, bare)
    verified, printed = script.verify(files)
    assert verified, printed
    cut = [one for one in lines(files, "leaves.jsonl") if "leaves" in one]
    assert cut
    lied = by_a_liar(files, by)
    assert {one.file for one in verify_files(lied, [key]).problems} == {"events.jsonl"}
    verified, printed = script.verify(lied)
    assert not verified
    assert "an event in leaves.jsonl was changed" in printed


def cut_pack(engine: Engine, base: Path, by: Signer) -> Files:
    """A pack in which values are left out."""
    for seed in range(20):
        here = placed(engine, base / f"log{seed}", seed)
        for viewer, _ in policies(random.Random(seed), here.estate):
            with sources_of(here.engine, here.log, viewer) as sources:
                for root in here.estate.datasets:
                    if (
                        viewer.can_see(root)
                        and b'"leaves"' in (files := make(sources, root, signer=by))["leaves.jsonl"]
                    ):
                        return files
    raise AssertionError("no pack is cut")


def by_a_liar(files: Files, by: Signer) -> Files:
    """A pack whose own Whence changed a value that it shows of a cut event, and signed that."""
    leaves = files["leaves.jsonl"].replace(b'"/producer\\",\\"http', b'"/producer\\",\\"httq')
    assert leaves != files["leaves.jsonl"]
    return signed_anew({**files, "leaves.jsonl": leaves}, by)


def signed_anew(changed: Files, by: Signer) -> Files:
    """Changed files with a statement that names them as they are, signed."""
    assert by.key is not None
    statement = json.loads(read_envelope(changed[ENVELOPE]).payload)
    for one in statement["subject"]:
        one["digest"]["sha256"] = sha256(changed[one["name"]]).hexdigest()
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    signature = Signature(by.key.public.id, by.key.sign(signed_bytes(payload)))
    return {**changed, ENVELOPE: write_envelope(Envelope(payload, (signature,)))}


def test_a_pack_of_an_earlier_version_still_verifies(place: Place, tmp_path: Path, bare: dict[str, str]) -> None:
    """Before there were heads, objectives and policies in packs."""
    by, key = signer(Algorithm.ED25519)
    with sources_of(place.engine, place.log) as sources:
        files = make(sources, written_dataset(place.estate), signer=by)
    later = {"heads.jsonl", "slos.json", "policies.json"}
    statement = json.loads(read_envelope(files[ENVELOPE]).payload)
    statement["subject"] = [one for one in statement["subject"] if one["name"] not in later]
    del statement["predicate"]["heads"]
    envelope = write_envelope(Envelope(json.dumps(statement).encode()))
    old = signed_anew({**{name: files[name] for name in files if name not in later}, ENVELOPE: envelope}, by)
    found = verify_files(old, [key])
    assert (found.problems, found.signed_by) == ((), (key.id,))
    verified, printed = script_of(key, tmp_path, bare).verify(old)
    assert verified, printed
    assert "heads of the logs: 0" in printed


def test_other_entries_in_the_directory_are_found_by_the_script(
    place: Place, tmp_path: Path, bare: dict[str, str]
) -> None:
    by, key = signer(Algorithm.P256)
    with sources_of(place.engine, place.log) as sources:
        files = make(sources, written_dataset(place.estate), signer=by)
    script = script_of(key, tmp_path, bare)
    write_directory(files, script.directory)
    for name in ("more.json", ".hidden", "a\nb", "*"):
        (script.directory / name).write_text("x")
        assert not script.run()[0], name
        (script.directory / name).unlink()
    (script.directory / "lineage.json").rename(tmp_path / "elsewhere")
    (script.directory / "lineage.json").symlink_to(tmp_path / "elsewhere")
    assert not script.run()[0]
    (script.directory / "lineage.json").unlink()
    (tmp_path / "elsewhere").rename(script.directory / "lineage.json")
    assert script.run()[0]
    script.key.write_bytes(signer(Algorithm.P256)[1].pem)
    assert "it is not signed by the key" in script.run()[1]
