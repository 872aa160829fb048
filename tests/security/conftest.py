"""Security databases, and applications that ask for keys."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import Engine

from fixtures.migrated_stores import open_migrated
from query.worlds.churn_story import WORLD
from query.worlds.random_worlds import load
from whence.api.http.clock import Clock, system_clock
from whence.api.server.app import create_app
from whence.api.settings import ProviderSettings, Settings
from whence.govern.api_keys import create_key
from whence.model.access import SCOPES, Action, Grant, Role
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.security.database import open_security, read_security, write_security
from whence.store.security.grants import add_grant


def now() -> int:
    return time.time_ns() // 1_000


@pytest.fixture
def security(store_url: str) -> Iterator[Engine]:
    """An empty security database, on each kind of store in turn."""
    engine = open_security(store_url)
    yield engine
    engine.dispose()


@dataclass(frozen=True)
class House:
    """An application that asks for keys, in this process, and its security database."""

    settings: Settings
    engine: Engine

    def key(self, name: str, role: Role | None = None, namespaces: str = "*", **more: Any) -> dict[str, str]:
        """The headers of a new key, with a grant."""
        scopes: frozenset[Action] = more.pop("scopes", SCOPES)
        with write_security(self.engine) as connection:
            made = create_key(connection, name, scopes, now(), **more)
            if role is not None:
                add_grant(connection, f"key:{name}", Grant(role, namespaces))
        return {"Authorization": f"Bearer {made.text}"}

    def run(self, work: Callable[[httpx.AsyncClient, FastAPI], Awaitable[None]], clock: Clock = system_clock) -> None:
        """Do work with a client, while the application runs."""
        asyncio.run(self._run(work, clock))

    def audited(self) -> list[Any]:
        """All entries of the audit log, oldest first, once the application has ended."""
        from whence.store.security.audit import AuditFilter, read_audit, verify_log

        with read_security(self.engine) as connection:
            verify_log(connection)
            return [entry for _, entry in read_audit(connection, AuditFilter(limit=10_000))][::-1]

    async def _run(self, work: Callable[[httpx.AsyncClient, FastAPI], Awaitable[None]], clock: Clock) -> None:
        app = create_app(self.settings, clock)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="https://whence.test") as client,
        ):
            await work(client, app)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """`house(provider=...)` makes one."""
    engines: list[Engine] = []

    def make(provider: ProviderSettings | None = None, **more: Any) -> House:
        url = sqlite_url(tmp_path / "store.db")
        engines.append(open_migrated(url))
        security_url = sqlite_url(tmp_path / "security.db")
        engines.append(open_security(security_url))
        settings = Settings(data=tmp_path, store_url=url, security_url=security_url, provider=provider, **more)
        return House(settings, engines[-1])

    yield make
    for engine in engines:
        engine.dispose()


@pytest.fixture
def churn(house: Callable[..., House]) -> House:
    """The churn story, behind keys."""
    made = house()
    engine = open_store(made.settings.store_url)
    load(engine, WORLD)
    engine.dispose()
    return made
