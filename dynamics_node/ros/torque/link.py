"""Exchange records between the serving process and the torque process.

The connection is a socket that keeps packets apart: a packet is sent as a whole or not at all, so
that the torque process, which never waits, cannot leave half a record behind. A record is pickled
and cut into packets; the first byte of a packet tells whether it is the last one of its record.
"""

from __future__ import annotations

import pickle
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

PACKET = 1 << 16            # bytes
PATIENCE = 5                # [s] for the other end to read from a full socket
LAST, MORE = b'\x01', b'\x00'


class Command(NamedTuple):
    """A request of the serving process; it is carried out between two torques."""

    number: int
    name: str
    arguments: tuple


class Reply(NamedTuple):
    """The reply to a Command."""

    number: int
    result: Any
    refusal: str = ''   # why nothing was changed


class LogLine(NamedTuple):
    """A line for the log of the node."""

    severity: str       # a method of outgoing.Log
    text: str


def pair() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a connection."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Link:
    """One end of the connection. A thread receives the records."""

    def __init__(self, end: socket.socket, on_record: Callable[[Any], None],
                 on_end: Callable[[], None]) -> None:
        """Start to receive.

        :param on_record: called with each record, in the thread.
        :param on_end: called once, in the thread, when the other end is closed.
        """
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', PATIENCE, 0))
        self._end, self._on_record, self._on_end = end, on_record, on_end
        self._sending = threading.Lock()
        threading.Thread(target=self._receive, name='torque link', daemon=True).start()

    def send(self, record: Any, wait: bool) -> bool:
        """Send a record; return whether it was sent.

        :param wait: wait up to PATIENCE while the socket is full. Otherwise a record that does not
            fit into the socket, or not into one packet, is dropped.
        """
        data = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
        parts = [data[k:k + PACKET] for k in range(0, len(data), PACKET)]
        if len(parts) > 1 and not wait:
            return False
        with self._sending:
            try:
                for k, part in enumerate(parts):
                    mark = LAST if k == len(parts) - 1 else MORE
                    self._end.send(mark + part, 0 if wait else socket.MSG_DONTWAIT)
            except OSError:   # full, or closed
                return False
        return True

    def close(self) -> None:
        """Close the connection; both ends are told."""
        with suppress(OSError):   # closed before
            self._end.shutdown(socket.SHUT_RDWR)

    def _receive(self) -> None:
        parts: list[bytes] = []
        with suppress(OSError), self._end:
            while packet := self._end.recv(PACKET + 1):
                parts.append(packet[1:])
                if packet[:1] == LAST:
                    record = pickle.loads(b''.join(parts))
                    parts = []
                    self._on_record(record)
        self._on_end()
