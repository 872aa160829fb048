"""The API as a process: `python -m whence.api --data DIR --store URL`, on a given socket (`--fd`) or its own."""

import argparse
import math
import os
import socket
from dataclasses import fields
from pathlib import Path

from whence.api.http.rate_limits import RateSettings
from whence.api.server.serve import serve
from whence.api.settings import SLACK_RESPONSES, ProviderSettings, Settings, SlackSettings
from whence.api.slack.late_answers import is_base
from whence.errors import LogError, WhenceError
from whence.file_modes import restrict_new_files
from whence.log.address import open_log

_BOUNDS = {
    "max_body_bytes": ("WHENCE_MAX_BODY_BYTES", int, "the largest body"),
    "head_seconds": ("WHENCE_HEAD_SECONDS", float, "how long a request's headers may take"),
    "body_seconds": ("WHENCE_BODY_SECONDS", float, "how long a request's body may take"),
    "policy_grace_seconds": ("WHENCE_POLICY_GRACE_SECONDS", float, "how long the last known policy lets events in"),
    "peer_connections": ("WHENCE_PEER_CONNECTIONS", int, "connections of one address; 0: no limit"),
}

_RATES = {
    "producer_events": ("WHENCE_PRODUCER_EVENTS", "events a second of one producer"),
    "producer_bytes": ("WHENCE_PRODUCER_BYTES", "bytes a second of one producer"),
    "peer_events": ("WHENCE_PEER_EVENTS", "events a second from one address"),
    "peer_bytes": ("WHENCE_PEER_BYTES", "bytes a second from one address"),
}

_DEFAULTS = {one.name: one.default for one in fields(Settings)}


def parser() -> argparse.ArgumentParser:
    """The command-line arguments of this process."""
    parser = argparse.ArgumentParser(prog="python -m whence.api")
    store = os.environ.get("WHENCE_STORE")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", default=store, required=not store, help="the store's URL (WHENCE_STORE)")
    parser.add_argument(
        "--log",
        default=os.environ.get("WHENCE_LOG", ""),
        help="the event log (WHENCE_LOG); in the data directory if not given",
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--fd", type=int)
    parser.add_argument("--open", action="store_true", help="let everybody on this machine in without a key")
    security = os.environ.get("WHENCE_SECURITY", "")
    parser.add_argument("--security", default=security, help="the security database's URL (WHENCE_SECURITY)")
    parser.add_argument("--tls-cert", type=Path, help="serve https with this certificate (PEM, the chain in it)")
    parser.add_argument("--tls-key", type=Path, help="the certificate's key, if it is in a file of its own")
    for name, (variable, kind, meaning) in _BOUNDS.items():
        flag, default = f"--{name.replace('_', '-')}", os.environ.get(variable, _DEFAULTS[name])
        parser.add_argument(flag, type=kind, default=default, help=f"{meaning} ({variable})")
    for name, (variable, meaning) in _RATES.items():
        flag, default = f"--{name.replace('_', '-')}", os.environ.get(variable, getattr(RateSettings(), name))
        parser.add_argument(flag, type=_rate, default=default, help=f"{meaning} ({variable}); 0: no limit")
    return parser


def main() -> None:
    """Serve until a signal ends the process."""
    restrict_new_files()
    options = parser().parse_args()
    settings = Settings(
        data=options.data,
        store_url=options.store,
        log_url=options.log,
        tables_url=os.environ.get("WHENCE_TABLES", ""),
        **{name: getattr(options, name) for name in _BOUNDS},
        open=options.open,
        security_url=options.security,
        provider=_provider(),
        slack=_slack(),
        public_badges=tuple(os.environ.get("WHENCE_PUBLIC_BADGES", "").split()),
        evidence_seconds=60 * float(os.environ.get("WHENCE_EVIDENCE_MINUTES") or 0),
        evidence_url=os.environ.get("WHENCE_EVIDENCE", ""),
        receivers=Path(file) if (file := os.environ.get("WHENCE_RECEIVERS", "").strip()) else None,
        tls_cert=options.tls_cert,
        tls_key=options.tls_key,
        rates=RateSettings(**{name: getattr(options, name) for name in _RATES}),
    )
    try:
        open_log(settings.log_url)
    except LogError as error:
        parser().error(str(error))
    listening = socket.socket(fileno=options.fd) if options.fd is not None else _bind(options.host, options.port)
    try:
        serve(settings, listening)
    except WhenceError as error:
        parser().error(str(error))


def _provider() -> ProviderSettings | None:
    """Read the provider from the environment: everybody on a machine can read a process's arguments."""
    issuer = os.environ.get("WHENCE_OIDC_ISSUER", "")
    if not issuer:
        return None
    return ProviderSettings(
        issuer=issuer,
        client_id=os.environ.get("WHENCE_OIDC_CLIENT_ID", ""),
        client_secret=os.environ.get("WHENCE_OIDC_CLIENT_SECRET", ""),
        audience=os.environ.get("WHENCE_OIDC_AUDIENCE", ""),
        groups_claim=os.environ.get("WHENCE_OIDC_GROUPS", "groups"),
        public_url=os.environ.get("WHENCE_URL", "http://127.0.0.1:8080"),
    )


def _slack() -> SlackSettings | None:
    """Read the app of Slack from the environment, for the same reason."""
    secret = os.environ.get("WHENCE_SLACK_SIGNING_SECRET", "").strip()
    if not secret:
        return None
    base = os.environ.get("WHENCE_SLACK_RESPONSES", "").strip() or SLACK_RESPONSES
    if not is_base(base):
        parser().error("WHENCE_SLACK_RESPONSES must be the scheme and host to which Slack's answers go, with https")
    return SlackSettings(signing_secret=secret, public_url=os.environ.get("WHENCE_URL", ""), response_base=base)


def _rate(text: str) -> float:
    rate = float(text)
    if not 0 <= rate < math.inf:
        raise ValueError
    return rate


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


if __name__ == "__main__":
    main()
