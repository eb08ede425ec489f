"""Read messages from the bytes that the middleware has received."""

from typing import Any

from rclpy.serialization import deserialize_message

# Four bytes name the encoding, and how many bytes at the end are padding, up to three. Where the
# padding is longer than the message, Fast CDR of Kilted reads beyond its end, and the process ends.
SHORTEST = 8


def read_message(data: bytes, kind: type) -> Any:
    """Return the message of serialised bytes.

    :raise Exception: of any kind, which rclpy does not document, if the bytes are no such message.
    """
    if len(data) < SHORTEST:
        raise ValueError(f'{len(data)} bytes are too short')
    return deserialize_message(data, kind)
