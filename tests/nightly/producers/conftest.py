"""One Whence for all producers of a session; each sends under namespaces of its own."""

from collections.abc import Iterator

import pytest

from nightly.producers.served import Served, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running Whence, with keys."""
    with serving(tmp_path_factory.mktemp("whence")) as one:
        yield one
