"""Where events go, and under which names, by the environment: OpenLineage's variables first, then Whence's.

>>> read_settings({"OPENLINEAGE_URL": "http://lineage:5000/", "OPENLINEAGE_NAMESPACE": "shop"}).endpoint
'http://lineage:5000/api/v1/lineage'
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

DEFAULT_URL = "http://127.0.0.1:8080"
MEBIBYTE = 1 << 20
OUTBOX = "WHENCE_OUTBOX"
"""The variable that names the folder of unsent events."""

HTTP, CONSOLE, FILE, OFF = "http", "console", "file", "off"


@dataclass(frozen=True)
class Settings:
    """Where events go. `transport` is http, console (a JSON line on stdout each), file (`path`), or off."""

    url: str = DEFAULT_URL
    namespace: str = "default"
    api_key: str = ""
    transport: str = HTTP
    endpoint_path: str = "api/v1/lineage"
    timeout: float = 5.0
    """Seconds that one request to the collector may take."""
    path: str = ""
    outbox: str = ""
    """The folder of unsent events."""
    outbox_bytes: int = 64 * MEBIBYTE
    exit_seconds: float = 2.0
    """How long the end of the process waits for unsent events, at most."""

    @property
    def endpoint(self) -> str:
        """The full URL of the collector."""
        return f"{self.url.rstrip('/')}/{self.endpoint_path.lstrip('/')}"


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of the environment. A value that cannot be read counts as absent: the job is not ours to break."""
    env = os.environ if environment is None else environment
    transport = _transport(env)
    named = transport.get("auth")
    auth: dict[str, Any] = named if isinstance(named, dict) else {}
    url = env.get("WHENCE_URL") or str(transport.get("url", "")) or env.get("OPENLINEAGE_URL") or DEFAULT_URL
    key = env.get("WHENCE_API_KEY") or str(auth.get("apikey", "")) or env.get("OPENLINEAGE_API_KEY", "")
    settings = Settings(
        url=url if "://" in url else f"http://{url}",
        namespace=env.get("OPENLINEAGE_NAMESPACE") or "default",
        api_key=key.strip(),  # of a file or a secret that ends with a line break
        transport=_kind(env, transport),
        endpoint_path=str(transport.get("endpoint", "")) or env.get("OPENLINEAGE_ENDPOINT") or "api/v1/lineage",
        path=str(transport.get("log_file_path", "")),
        outbox=env.get(OUTBOX) or outbox_folder(env),
    )
    return replace(
        settings,
        timeout=_number(str(transport.get("timeout", "")), settings.timeout),
        outbox_bytes=int(_number(env.get("WHENCE_OUTBOX_BYTES", ""), settings.outbox_bytes)),
        exit_seconds=_number(env.get("WHENCE_EXIT_SECONDS", ""), settings.exit_seconds),
    )


def given_settings(url: str = "", namespace: str = "", api_key: str | None = None, events_file: str = "") -> Settings:
    """The settings of a call, else of the environment. A file that is given gets the events."""
    settings = read_settings()
    if url:
        settings = replace(settings, url=url, transport=HTTP)
    if events_file:
        settings = replace(settings, transport=FILE, path=events_file)
    if api_key:
        settings = replace(settings, api_key=api_key)
    return replace(settings, namespace=namespace) if namespace else settings


def outbox_folder(environment: Mapping[str, str] | None = None) -> str:
    """The folder of unsent events, in the platform's place for caches."""
    env = os.environ if environment is None else environment
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        cache = os.path.join(home, "Library", "Caches")
    elif sys.platform == "win32":
        cache = env.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        cache = env.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(cache, "whence", "outbox")


def _transport(env: Mapping[str, str]) -> dict[str, Any]:
    """OpenLineage's transport: the JSON of OPENLINEAGE__TRANSPORT, then its single variables, as in its client."""
    members: dict[str, Any] = {}
    whole = _document(env.get("OPENLINEAGE__TRANSPORT", ""))
    if isinstance(whole, dict):
        members = {str(key).lower(): value for key, value in whole.items()}
        if isinstance(members.get("auth"), dict):
            members["auth"] = {str(key).lower().replace("_", ""): value for key, value in members["auth"].items()}
    prefix = "OPENLINEAGE__TRANSPORT__"
    for name, value in env.items():
        if not name.startswith(prefix):
            continue
        key = name[len(prefix) :].lower()
        if key.startswith("auth__"):
            auth = members.setdefault("auth", {})
            if isinstance(auth, dict):
                auth[key[len("auth__") :].replace("_", "")] = value
        else:
            members[key] = value
    return members


def _kind(env: Mapping[str, str], transport: Mapping[str, Any]) -> str:
    if env.get("OPENLINEAGE_DISABLED", "").lower() in ("1", "true") or env.get("WHENCE_DISABLED", "") in ("1", "true"):
        return OFF
    named = env.get("WHENCE_TRANSPORT") or str(transport.get("type", ""))
    if named in ("", HTTP, "async_http", "whence"):
        return HTTP
    return {"console": CONSOLE, "stdout": CONSOLE, "file": FILE, "noop": OFF, "off": OFF}.get(named, HTTP)


def _document(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return None


def _number(text: str, default: float) -> float:
    try:
        number = float(text)
    except ValueError:
        return default
    return number if number >= 0 else default
