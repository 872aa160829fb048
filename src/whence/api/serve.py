"""Serving the API on a socket, with uvicorn."""

import logging
import socket
import sys

import uvicorn

from whence.api.app import create_app
from whence.api.settings import Settings


def serve(settings: Settings, listening: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT; says `ready` on stdout once it does."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    config = uvicorn.Config(
        create_app(settings),
        http="httptools",
        loop="uvloop",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
    )
    _AnnouncedServer(config).run(sockets=[listening])


class _AnnouncedServer(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
