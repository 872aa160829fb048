"""The commit of a project, read from git if the project is in a repository."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from whence_client.redaction.credentials import strip_credentials

_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit. `prefix` is the project's directory in the repository, with a slash at its end, or empty."""

    sha: str
    repository: str = ""
    branch: str = ""
    prefix: str = ""

    def url_of(self, path: str) -> str:
        """The URL of a repository file at this commit; a bare path if the repository has no web address."""
        web = self.repository.removesuffix(".git")
        if web.startswith("git@"):
            web = "https://" + web.removeprefix("git@").replace(":", "/", 1)
        return f"{web}/blob/{self.sha}/{path}" if web.startswith("http") else path


def commit_of(directory: Path) -> Commit | None:
    """The commit checked out in a directory. Returns None outside of a repository, or without git."""
    sha = _git(directory, "rev-parse", "HEAD")
    if not sha:
        return None
    branch = _git(directory, "rev-parse", "--abbrev-ref", "HEAD")
    return Commit(
        sha=sha,
        repository=strip_credentials(_git(directory, "remote", "get-url", "origin")),
        branch="" if branch == "HEAD" else branch,
        prefix=_git(directory, "rev-parse", "--show-prefix"),
    )


def _git(directory: Path, *arguments: str) -> str:
    try:
        result = subprocess.run(
            ["git", "-C", str(directory), *arguments],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
