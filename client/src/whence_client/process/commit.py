"""The commit and place of the code that runs: from the variables of CI, else from Git at the code's own folder.

Git is not asked in the job's thread unless the caller does: it is a process of some milliseconds.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from whence_client.events.facets import Facet, facet, own_facet

_SECONDS = 5
_SHA = ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BITBUCKET_COMMIT", "BUILD_SOURCEVERSION", "CIRCLE_SHA1")
_BRANCH = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "GIT_BRANCH", "BITBUCKET_BRANCH")
_REPOSITORY = (
    "CI_PROJECT_URL",
    "GIT_URL",
    "BITBUCKET_GIT_HTTP_ORIGIN",
    "BUILD_REPOSITORY_URI",
    "CIRCLE_REPOSITORY_URL",
)
_PULL_REQUEST = ("CI_MERGE_REQUEST_IID", "BITBUCKET_PR_ID", "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "CHANGE_ID")


@dataclass(frozen=True)
class Commit:
    """A commit. `prefix` is the code's folder within the repository, with a slash at its end, or empty.

    `dirty`: whether files differ from the commit; None if unknown, as in an image without Git.
    """

    sha: str
    repository: str = ""
    branch: str = ""
    prefix: str = ""
    pull_request: str = ""
    dirty: bool | None = None

    def url_of(self, path: str, line: int = 0) -> str:
        """The web address of a file at this commit; the bare path if the repository has no web address."""
        if not self.repository.startswith("http"):
            return path
        return f"{self.repository}/blob/{self.sha}/{path}" + (f"#L{line}" if line else "")


def commit_of(folder: str, environment: Mapping[str, str] | None = None) -> Commit | None:
    """The commit of the code in a folder. None outside of a repository and of CI, or if unknown."""
    env = os.environ if environment is None else environment
    sha = _git(folder, "rev-parse", "HEAD")
    if not sha:
        return _of_ci(env, folder)
    branch = _git(folder, "rev-parse", "--abbrev-ref", "HEAD")
    status = _git_answer(folder, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules")
    return Commit(
        sha=sha,
        repository=web_address(_git(folder, "remote", "get-url", "origin")),
        branch=branch if branch != "HEAD" else _first(env, _BRANCH),
        prefix=_git(folder, "rev-parse", "--show-prefix"),
        pull_request=_pull_request(env),
        dirty=None if status is None else bool(status),
    )


def code_facets(path: str, line: int, commit: Commit | None) -> dict[str, Facet]:
    """The job facets with the location of the code: `sourceCodeLocation`, and `whence_code` with line and dirty."""
    name = os.path.basename(path)
    if commit is None:
        return {"whence_code": own_facet("CodeJobFacet", path=path, line=line)}
    inner = commit.prefix + name
    members = {
        "type": "git",
        "url": commit.url_of(inner, line),
        "repoUrl": commit.repository,
        "path": inner,
        "version": commit.sha,
        "branch": commit.branch,
        "pullRequestNumber": commit.pull_request,
    }
    location = facet("SourceCodeLocationJobFacet", **{key: value for key, value in members.items() if value})
    code = own_facet("CodeJobFacet", path=inner, line=line, commit=commit.sha, dirty=commit.dirty)
    return {"sourceCodeLocation": location, "whence_code": code}


def web_address(remote: str) -> str:
    """The web address of a remote, without credentials and `.git`.

    >>> web_address("git@forge.example:shop/jobs.git"), web_address("https://bob:pw@forge.example/shop/jobs.git")
    ('https://forge.example/shop/jobs', 'https://forge.example/shop/jobs')
    """
    scheme, separator, rest = remote.partition("://")
    if not separator:
        user, at, path = remote.partition("@")
        if not at or ":" not in path or "/" in user:
            return ""  # a folder of this machine: its path is nobody's business
        rest = path.replace(":", "/", 1)
    elif scheme not in ("http", "https", "ssh", "git"):
        return ""
    host, _, path = rest.partition("/")
    host = host.rpartition("@")[2]
    host = host.partition(":")[0] if scheme in ("ssh", "git") else host
    path = path[:-4] if path.endswith(".git") else path
    return f"{scheme if scheme == 'http' else 'https'}://{host}/{path.rstrip('/')}"


def _of_ci(env: Mapping[str, str], folder: str) -> Commit | None:
    sha = _first(env, _SHA) or _of_installation(folder)
    if not sha:
        return None
    repository = _first(env, _REPOSITORY)
    if not repository and env.get("GITHUB_REPOSITORY"):
        repository = f"{env.get('GITHUB_SERVER_URL', '')}/{env['GITHUB_REPOSITORY']}"
    return Commit(
        sha=sha, repository=web_address(repository), branch=_first(env, _BRANCH), pull_request=_pull_request(env)
    )


def _of_installation(folder: str) -> str:
    """The commit that an image or an installation from Git wrote down: `.commit` above the code, or direct_url.json."""
    places = (os.path.join(place, ".commit") for place in (folder, os.path.dirname(folder), os.sep))
    written = next((place for place in places if os.path.isfile(place)), "")
    try:
        from importlib.metadata import PackageNotFoundError, distribution

        if written:
            with open(written, encoding="utf-8") as file:
                return file.read(64).strip()
        document = distribution(os.path.basename(folder)).read_text("direct_url.json") or "{}"
        return str(json.loads(document).get("vcs_info", {}).get("commit_id", ""))
    except (PackageNotFoundError, ValueError, OSError):
        return ""


def _pull_request(env: Mapping[str, str]) -> str:
    parts = env.get("GITHUB_REF", "").split("/")
    return parts[2] if parts[:2] == ["refs", "pull"] and len(parts) > 2 else _first(env, _PULL_REQUEST)


def _first(env: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((env[name] for name in names if env.get(name)), "")


def _git(folder: str, *arguments: str) -> str:
    return _git_answer(folder, *arguments) or ""


def _git_answer(folder: str, *arguments: str) -> str | None:
    # Hooks and pagers of the user's configuration must not run, and no lock may be taken from the user's own Git.
    try:
        answer = subprocess.run(
            ["git", "--no-optional-locks", "-C", folder, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.decode("utf-8", "replace").strip() if answer.returncode == 0 else None
