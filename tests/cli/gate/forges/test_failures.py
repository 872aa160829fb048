"""What goes wrong at a forge: limits, failures, two jobs at once, and what the gate asks again, and when."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from cli.gate.forges.forge_server import Failure, Json
from cli.gate.forges.github_server import TOKEN as GITHUB_TOKEN
from cli.gate.forges.github_server import GitHubState, github_server
from cli.gate.forges.gitlab_server import TOKEN as GITLAB_TOKEN
from cli.gate.forges.gitlab_server import GitLabState, gitlab_server
from whence.cli.gate.forges.comments import Comments
from whence.cli.gate.forges.forge import Forge, PullRequest
from whence.cli.gate.forges.github import GitHub
from whence.cli.gate.forges.gitlab import GitLab
from whence.errors import ApiError
from whence.govern.gate.rendering.markdown import MARKER

HEAD, NOW = "a" * 40, 1_795_154_400
BODY = f"{MARKER}\nwhat the gate says\n"


@dataclass
class Clock:
    """A clock that goes on when somebody sleeps, and notes for how long."""

    now: float = NOW
    slept: list[float] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


@dataclass(frozen=True)
class Desk:
    """Where a gate writes. `write`: a comment, by a gate of its own; `bodies`: of the gate's account."""

    failures: list[Failure]
    comments: str
    write: Callable[[], None]
    bodies: Callable[[], list[str]]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("whence.cli.gate.forges.forge.time", made)
    return made


@pytest.fixture(params=["github", "gitlab"])
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield _github_desk(stack) if request.param == "github" else _gitlab_desk(stack)


def _pull(repository: str) -> PullRequest:
    return PullRequest(repository=repository, number=7, base="b" * 40, head=HEAD, author="ann", is_fork=False)


def _github_desk(stack: ExitStack) -> Desk:
    state = GitHubState(head=HEAD)
    url = stack.enter_context(github_server(state))

    def write() -> None:
        forge = Forge(url, {"Authorization": f"Bearer {GITHUB_TOKEN}"})
        gate = GitHub(forge=forge, pull=_pull("shop/pipeline"), account="github-actions[bot]")
        gate.write_comment(BODY, is_needed=True)
        forge.close()

    return Desk(state.failures, "/issues/7/comments", write, lambda: [one["body"] for one in state.comments])


def _gitlab_desk(stack: ExitStack) -> Desk:
    state = GitLabState()
    state.push(HEAD)
    url = stack.enter_context(gitlab_server(state))

    def write() -> None:
        forge = Forge(url, {"PRIVATE-TOKEN": GITLAB_TOKEN})
        GitLab(forge=forge, pull=_pull("17")).write_note(BODY, is_needed=True)
        forge.close()

    return Desk(state.failures, "/merge_requests/7/notes", write, lambda: [one["body"] for one in state.notes])


@pytest.mark.parametrize(
    ("status", "headers", "slept"),
    [
        (429, {"Retry-After": "7"}, 7),
        (403, {"Retry-After": "30"}, 30),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW + 90)}, 90),
        (429, {"X-RateLimit-Reset": str(NOW - 5)}, 1),
        (429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, 60),
        (429, {}, 60),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_limit_is_waited_for(
    desk: Desk, clock: Clock, method: str, status: int, headers: dict[str, str], slept: float
) -> None:
    desk.failures.append(Failure(method, desk.comments, status, headers))
    desk.write()
    assert (clock.slept, len(desk.bodies())) == ([slept], 1)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_limit_that_lasts_is_said(desk: Desk, clock: Clock, method: str) -> None:
    desk.failures.append(Failure(method, desk.comments, 429, {"Retry-After": "3600"}))
    with pytest.raises(ApiError, match="429: not now; run the job again in 3600 s"):
        desk.write()
    assert (clock.slept, desk.bodies()) == ([], [])


def test_what_a_forge_fails_to_read_is_asked_again(desk: Desk, clock: Clock) -> None:
    desk.failures.extend(Failure("GET", desk.comments, status) for status in (500, 502, 503))
    desk.write()
    assert (clock.slept, len(desk.bodies())) == ([1, 2, 4], 1)
    desk.failures.extend([Failure("GET", desk.comments, 504)] * 7)
    with pytest.raises(ApiError, match="was answered with 504"):
        desk.write()
    assert clock.slept[3:] == [1, 2, 4, 8, 16, 32]


def test_a_read_is_sent_again_after_a_dropped_connection(desk: Desk, clock: Clock) -> None:
    desk.failures.extend([Failure("GET", desk.comments, 0)] * 2)
    desk.write()
    assert (clock.slept, len(desk.bodies())) == ([1, 2], 1)
    desk.failures.extend([Failure("GET", desk.comments, 0)] * 7)
    with pytest.raises(ApiError, match="disconnected"):
        desk.write()
    assert clock.slept[2:] == [1, 2, 4, 8, 16, 32]


@pytest.mark.parametrize("is_done", [True, False])
def test_a_write_is_not_sent_again_after_a_dropped_connection(desk: Desk, clock: Clock, is_done: bool) -> None:
    desk.failures.append(Failure("POST", desk.comments, 0, is_done=is_done))
    with pytest.raises(ApiError, match="disconnected"):
        desk.write()
    assert (clock.slept, len(desk.bodies())) == ([], is_done)
    desk.write()
    assert len(desk.bodies()) == 1


@pytest.mark.parametrize("is_done", [True, False])
def test_what_a_forge_may_have_written_is_not_written_again(desk: Desk, clock: Clock, is_done: bool) -> None:
    desk.failures.append(Failure("POST", desk.comments, 502, is_done=is_done))
    with pytest.raises(ApiError, match=r"POST .* was answered with 502"):
        desk.write()
    assert (clock.slept, len(desk.bodies())) == ([], is_done)
    desk.write()
    assert len(desk.bodies()) == 1


def test_a_refusal_is_no_limit(desk: Desk, clock: Clock) -> None:
    desk.failures.append(Failure("POST", desk.comments, 403, {"X-RateLimit-Remaining": "4999"}))
    with pytest.raises(ApiError, match=r"was answered with 403: not now$"):
        desk.write()
    assert clock.slept == []


def test_jobs_that_run_at_once_leave_one_comment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finds no comment before the first is created."""
    read, all_have_read = Comments._mine, threading.Barrier(4)

    def read_together(comments: Comments) -> list[Json]:
        if not (found := read(comments)):
            all_have_read.wait()
        return found

    monkeypatch.setattr(Comments, "_mine", read_together)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(desk.write) for _ in range(4)]:
            done.result()
    assert [one.strip() for one in desk.bodies()] == [BODY.strip()]


def test_comments_that_were_repeated_before_become_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Comments, "_mine", lambda _: [])
        for _ in range(3):
            desk.write()
    assert len(desk.bodies()) == 3
    desk.write()
    assert len(desk.bodies()) == 1
