"""Changes of code that is not read: the outputs of the jobs whose source code location lies in changed files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from whence.model.changes import ChangeKind, ColumnChange
from whence.model.ids import digest_of
from whence.model.names import DatasetName, JobName


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCode:
    """A job, what it writes, and where its code is: the facet `sourceCodeLocation`."""

    job: JobName
    outputs: tuple[DatasetName, ...]
    location: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeChanges:
    """What changed files may change. `unclaimed`: those that are no known job's code."""

    changes: tuple[ColumnChange, ...]
    unclaimed: tuple[str, ...]


def changes_of_code(jobs: Iterable[JobCode], files: Mapping[str, str], repository: str) -> CodeChanges:
    """For every job whose code is in changed files, that it may change each of its outputs in any way.

    `files`: paths in the repository, each with what identifies its two versions; `repository`: its address, empty if it
    is not known. A job in another repository is left out; one that does not name its repository is believed to be of
    this one.
    """
    found: dict[ColumnChange, None] = {}
    claimed: set[str] = set()
    for one in jobs:
        if mine := [file for file in files if is_code_of(one.location, file, repository)]:
            claimed |= set(mine)
            content = digest_of(part for file in mine for part in (file, files[file]))
            found |= dict.fromkeys(_changes(one, mine[0], content))
    return CodeChanges(changes=tuple(found), unclaimed=tuple(file for file in files if file not in claimed))


def _changes(one: JobCode, file: str, content: str) -> Iterator[ColumnChange]:
    reason = f"the code of {one.job.name} changes, and it is not read: any column may change"
    for output in one.outputs:
        yield ColumnChange(
            dataset=output, column=None, kind=ChangeKind.UNKNOWN, reason=reason, file=file, content=content
        )


def is_code_of(location: Mapping[str, Any], file: str, repository: str) -> bool:
    """Whether a source code location lies in a file of a repository."""
    url, repo, path = (_text(location, key) for key in ("url", "repoUrl", "path"))
    if repository and repo and address_of(repo) != address_of(repository):
        return False
    if repository and not repo and "://" in url and not _is_below(address_of(url), address_of(repository)):
        return False
    if path:
        return _is_below(file, path.strip("/"))
    return unquote(url.partition("?")[0].partition("#")[0]).endswith(f"/{file}")


def address_of(url: str) -> str:
    """A repository's address without what differs between the ways to write it.

    >>> {address_of(one) for one in ("git@host:a/b.git", "https://user@host/a/b", "ssh://git@host/a/b/")}
    {'host/a/b'}
    """
    _, separator, rest = url.rpartition("://")
    host = rest.rpartition("@")[2]
    address = host if separator else host.replace(":", "/", 1)
    return address.rstrip("/").removesuffix(".git").lower()


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _text(location: Mapping[str, Any], key: str) -> str:
    value = location.get(key)
    return value if isinstance(value, str) else ""
