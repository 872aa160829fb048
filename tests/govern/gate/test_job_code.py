"""Which jobs changed files belong to, by what their source code location says."""

import pytest

from whence.govern.gate.code.job_code import JobCode, address_of, changes_of_code
from whence.model.changes import ChangeKind
from whence.model.names import DatasetName, JobName

OUTPUT = DatasetName("ns", "out")
HERE = "git@github.example:shop/pipeline.git"
BLOB = "https://github.example/shop/pipeline/blob/main/jobs/sum.py"


def claimed(location: dict[str, object], repository: str = HERE, file: str = "jobs/sum.py") -> bool:
    code = JobCode(job=JobName("j", "sum"), outputs=(OUTPUT,), location=location)
    found = changes_of_code([code], {file: "1 2"}, repository)
    assert bool(found.changes) is (found.unclaimed == ())
    return bool(found.changes)


@pytest.mark.parametrize(
    "location",
    [
        {"path": "jobs/sum.py"},
        {"path": "/jobs/sum.py"},
        {"path": "jobs"},
        {"path": "jobs/sum.py", "repoUrl": "https://x-token:y@GitHub.example/shop/pipeline"},
        {"path": "jobs/sum.py", "repoUrl": "ssh://git@github.example/shop/pipeline.git"},
        {"url": BLOB},
        {"url": f"{BLOB}?plain=1#L3"},
    ],
)
def test_a_job_whose_code_it_is(location: dict[str, object]) -> None:
    assert claimed(location)
    assert claimed(location, repository="")


@pytest.mark.parametrize(
    "location",
    [
        {},
        {"path": 3},
        {"path": "sum.py"},
        {"path": "job"},
        {"path": "jobs/sum.py", "repoUrl": "https://github.example/shop/other"},
        {"url": "https://github.example/shop/pipeline2/blob/main/jobs/sum.py"},
        {"url": "https://github.example/shop/pipeline"},
    ],
)
def test_a_job_whose_code_it_is_not(location: dict[str, object]) -> None:
    assert not claimed(location)


def test_every_output_of_every_job_in_the_file_may_change() -> None:
    outputs = (OUTPUT, DatasetName("ns", "more"))
    jobs = [JobCode(job=JobName("j", name), outputs=outputs, location={"path": "a.py"}) for name in ("x", "y")]
    found = changes_of_code(jobs, {"a.py": "1 2", "b.py": "3 4"}, "")
    assert len(found.changes) == 4
    assert {one.kind for one in found.changes} == {ChangeKind.UNKNOWN}
    assert found.unclaimed == ("b.py",)
    later = changes_of_code(jobs, {"a.py": "1 5"}, "")
    assert not {one.content for one in found.changes} & {one.content for one in later.changes}


def test_addresses_of_one_repository_are_one() -> None:
    ways = ("git@host:a/b.git", "https://host/a/b", "https://me@host/a/b.git/", "ssh://git@host/A/b", "host:a/b")
    assert {address_of(one) for one in ways} == {"host/a/b"}
