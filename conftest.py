"""What the tests of both packages share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler.loadfile import LoadFileScheduling


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadFileScheduling | None":
    """Let the tests that need a Kafka broker share one."""
    from fixtures.scheduling import make_scheduler

    return make_scheduler(config, log)


@pytest.fixture(scope="session", autouse=True)
def outbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An outbox of the tests: unsent events of theirs would be sent to whatever the user runs next."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_OUTBOX", str(tmp_path_factory.mktemp("outbox")))
        yield
