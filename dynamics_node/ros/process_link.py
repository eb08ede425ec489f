"""Exchange records between two processes of the node.

A record is pickled and cut into packets; the first byte of a packet tells whether it is the last
one of its record. A thread sends the packets in the order of the records, and waits while the
socket is full: the thread that computes torques only appends to its queue.
"""

from __future__ import annotations

import pickle
import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PACKET = 1 << 16            # bytes
MOST_UNSENT = 64            # packets in the queue, above which records may be dropped
FLUSH = 1.0                 # [s] to send the queue before the connection is closed
LAST, MORE = b'\x01', b'\x00'


def pair() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a connection."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Link:
    """One end of the connection. One thread receives the records, another one sends them."""

    def __init__(self, end: socket.socket, on_record: Callable[[Any], None],
                 on_end: Callable[[], None]) -> None:
        """Start to receive.

        :param on_record: called with each record, in the receiving thread.
        :param on_end: called once, in the receiving thread, when the other end is closed.
        """
        self._end, self._on_record, self._on_end = end, on_record, on_end
        self._open = True
        self._unsent: deque[bytes] = deque()
        self._changed = threading.Condition()   # of the two above
        for run in (self._receive, self._send_packets):
            threading.Thread(target=run, name='link', daemon=True).start()

    def send(self, record: Any, keep: bool = True) -> bool:
        """Append a record to the queue; return whether it will be sent. This never waits.

        :param keep: send it whenever the other end reads again. Otherwise it is dropped, as a
            whole, while MOST_UNSENT packets are in the queue.
        """
        data = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
        places = range(0, len(data), PACKET)
        packets = [(LAST if k == places[-1] else MORE) + data[k:k + PACKET] for k in places]
        with self._changed:
            if not self._open or not keep and len(self._unsent) >= MOST_UNSENT:
                return False
            self._unsent.extend(packets)
            self._changed.notify_all()
        return True

    def close(self) -> None:
        """Close the connection, after FLUSH at the latest; on_end is called at both ends."""
        with self._changed:
            self._changed.wait_for(lambda: not self._unsent or not self._open, FLUSH)
        self._stop_sending()
        with suppress(OSError):   # closed before
            self._end.shutdown(socket.SHUT_RDWR)

    def _stop_sending(self) -> None:
        with self._changed:
            self._open = False
            self._changed.notify_all()

    def _send_packets(self) -> None:
        with suppress(OSError):   # closed
            while self._has_packet():
                self._end.send(self._unsent[0])
                with self._changed:
                    self._unsent.popleft()
                    self._changed.notify_all()
        self._stop_sending()

    def _has_packet(self) -> bool:
        """Wait for a packet; return False if the connection was closed instead."""
        with self._changed:
            self._changed.wait_for(lambda: self._unsent or not self._open)
            return self._open

    def _receive(self) -> None:
        parts: list[bytes] = []
        try:
            with suppress(OSError), self._end:
                while packet := self._end.recv(PACKET + 1):
                    parts.append(packet[1:])
                    if packet[:1] == LAST:
                        data, parts = b''.join(parts), []
                        # No variable keeps a large record until the next one arrives.
                        self._on_record(pickle.loads(data))
                        del data
        finally:   # also after a bug in on_record: the connection is closed
            self._stop_sending()
            self._on_end()
