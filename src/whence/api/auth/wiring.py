"""The authentication components of one API process, created from its settings."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import FastAPI
from sqlalchemy import Engine

from whence.api.auth.admin import administration
from whence.api.auth.audit_log import AuditWriter
from whence.api.auth.audit_routes import audit_log
from whence.api.auth.credentials import Credentials
from whence.api.auth.guard import AccessGuard
from whence.api.auth.login import ProviderSignIn
from whence.api.auth.oidc_provider import Provider
from whence.api.auth.permissions import needing
from whence.api.auth.sessions import Sessions, router
from whence.api.settings import Settings
from whence.model.access import Action
from whence.store.security.database import open_security, read_security, security_url
from whence.store.security.grants import read_state


@dataclass(frozen=True, slots=True)
class Security:
    """The security database, and the components that use it; empty if Whence runs open."""

    engine: Engine
    auditing: AuditWriter
    credentials: Credentials
    sessions: Sessions

    def check(self) -> None:
        """Check that the database responds and accepts the audit log. Raises StoreError."""
        with read_security(self.engine) as connection:
            read_state(connection)
        self.auditing.check_written()

    async def close(self) -> None:
        """Write the queued audit entries, and release the database."""
        self.credentials.close()
        await self.auditing.close()
        self.engine.dispose()


def secure(app: FastAPI, settings: Settings) -> Security | None:
    """Add `AccessGuard` before all routes of the application, and the sign-in routes. Returns None if Whence runs open.

    Raises StoreError if the security database does not respond; then nothing is served.
    """
    needing(Action.PUBLIC, app.router)  # so far only the API's description, the same everywhere
    security = None if settings.open else _opened(app, settings)
    provider = urlsplit(settings.provider.issuer).hostname if settings.provider and security else ""
    app.include_router(router(security.sessions if security else None, provider or ""))
    app.include_router(administration())
    app.include_router(audit_log())
    app.state.security = security.engine if security else None
    app.state.expire_policy = security.credentials.expire_policy if security else None
    app.add_middleware(
        AccessGuard,
        routes=lambda: app.routes,
        credentials=security.credentials if security else None,
        auditing=security.auditing if security else None,
    )
    return security


def _opened(app: FastAPI, settings: Settings) -> Security:
    engine = open_security(settings.security_url or security_url(settings.store_url))
    auditing = AuditWriter(engine)
    provider = Provider(settings.provider) if settings.provider else None
    credentials = Credentials(engine, auditing, provider, settings)
    lifetime = int(settings.session_seconds * 1e6)
    sessions = Sessions(engine=engine, credentials=credentials, auditing=auditing, lifetime=lifetime)
    if provider:
        app.include_router(ProviderSignIn(sessions, provider).router())
    return Security(engine, auditing, credentials, sessions)
