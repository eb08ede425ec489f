"""Read messages from the bytes that the middleware has received."""

from typing import Any

from rclpy.serialization import deserialize_message

# Bytes of the shortest message. The first four give the encoding and the number of padding bytes at
# the end, up to three. If a message is shorter than its padding, Fast CDR of Kilted reads beyond
# the end, and the process crashes.
SHORTEST = 8


def read_message(data: bytes, kind: type) -> Any:
    """Return the message of serialised bytes.

    :raise Exception: the bytes are no such message; rclpy does not document the type of the error.
    """
    if len(data) < SHORTEST:
        raise ValueError(f'{len(data)} bytes are too short')
    return deserialize_message(data, kind)
