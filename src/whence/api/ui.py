"""The web UI: built files in the package, served under `/ui/`.

Its pages are `/ui/` and `/ui/<page>?…`, all at one depth, so that relative addresses work behind any proxy path.
`/ui/api` shows the API's description, with a bundled copy of Swagger UI.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from fastapi import APIRouter, Response
from fastapi.responses import FileResponse, RedirectResponse

FILES = Path(__file__).parents[1] / "ui_files"
"""The output directory of the build (`ui/vite.config.mts`, `hatch_build.py`)."""
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'self'"
)
WORKER_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'"
"""Only the worker that lays out graphs may run WebAssembly."""
FOREVER, ALWAYS_ASK = "public, max-age=31536000, immutable", "no-cache"
GUARDS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
MISSING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Whence</title>
<h1>The web UI is not built</h1>
<p>This Whence runs from a checkout that has no built UI. In its directory, say <code>make ui</code>, and load this page
again. No Node is needed on the machine: the build fetches one from the Python package index.</p>
<p>All else works: the <a href="../docs">API</a>, and <code>whence --help</code> at the terminal.</p></html>
"""


def router(files: Path = FILES) -> APIRouter:
    """`/` redirects to the UI; `/ui/` and the pages below are its one document, `/ui/assets/` its files."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    @routes.get("/ui")
    async def to_the_ui() -> Response:
        return RedirectResponse("ui/", 307)

    @routes.get("/docs")
    @routes.get("/redoc")
    async def to_the_docs() -> Response:
        return RedirectResponse("ui/api", 307)

    @routes.get("/ui/api")
    async def docs() -> Response:
        return _file(files / "docs.html")

    @routes.get("/ui/assets/{name}")
    async def asset(name: str) -> Response:
        path = files / "assets" / PurePosixPath(name).name
        if path.suffix not in TYPES or not path.is_file():
            return Response("no such file of the UI", 404, media_type="text/plain")
        policy = WORKER_POLICY if ".worker-" in name else POLICY
        return FileResponse(path, headers=_headers(FOREVER, policy), media_type=TYPES[path.suffix])

    @routes.get("/ui/icon.svg")
    async def icon() -> Response:
        return _file(files / "icon.svg")

    @routes.get("/ui/")
    @routes.get("/ui/{page}")
    async def document(page: str = "") -> Response:
        return _file(files / "index.html")

    return routes


def _file(path: Path) -> Response:
    if not path.is_file():
        return Response(MISSING, 503, _headers(ALWAYS_ASK, POLICY), TYPES[".html"])
    return FileResponse(path, headers=_headers(ALWAYS_ASK, POLICY), media_type=TYPES[path.suffix])


def _headers(cache: str, policy: str) -> Mapping[str, str]:
    return {"Cache-Control": cache, "Content-Security-Policy": policy, **GUARDS}
