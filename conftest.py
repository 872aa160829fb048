"""What the tests of both packages share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def outbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An outbox of the tests: unsent events of theirs would be sent to whatever the user runs next."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_OUTBOX", str(tmp_path_factory.mktemp("outbox")))
        yield
