"""A relay in front of a server on loopback, which records every byte that is sent to it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Traffic:
    """What was sent through a relay. `url`: where it listens."""

    url: str
    sent: bytearray = field(default_factory=bytearray)


@contextmanager
def recorded_traffic(port: int) -> Iterator[Traffic]:
    """A relay to a port; connections end when both sides have ended them."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        traffic = Traffic(f"http://127.0.0.1:{listening.getsockname()[1]}")
        threading.Thread(target=_accept, args=(listening, port, traffic), daemon=True).start()
        yield traffic
        listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, port: int, traffic: Traffic) -> None:
    while True:
        try:
            client, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_relay, args=(client, port, traffic), daemon=True).start()


def _relay(client: socket.socket, port: int, traffic: Traffic) -> None:
    with client, socket.create_connection(("127.0.0.1", port)) as server:
        answers = threading.Thread(target=_pass, args=(server, client, bytearray()), daemon=True)
        answers.start()
        _pass(client, server, traffic.sent)
        answers.join()


def _pass(source: socket.socket, target: socket.socket, record: bytearray) -> None:
    try:
        while data := source.recv(65_536):
            record += data  # before it goes on: who has an answer finds its question here
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return
