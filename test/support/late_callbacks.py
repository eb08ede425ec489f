"""Call the callbacks of destroyed entities, as the events executor does for queued events."""

from rclpy.service import Service
from rclpy.timer import Timer


def call_back(entities):
    """Call each timer, service and subscription once."""
    for entity in entities:
        if isinstance(entity, Timer):
            entity.callback()
        elif isinstance(entity, Service):
            entity.send_response(entity.callback(
                entity.srv_type.Request(), entity.srv_type.Response()), None)
        else:
            entity.callback(b'' if entity.raw else entity.msg_type())
