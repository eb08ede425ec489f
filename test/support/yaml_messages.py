"""Fill a message from YAML, as `ros2 service call` and `ros2 topic pub` do."""

from dynamics_node.ros.message_fields import message_fields


def fill(message, values):
    """Set fields of a message, {name: value}; an unknown field or a wrong type is an error."""
    known = message_fields(type(message))
    for name, value in values.items():
        assert name in known, f'{type(message).__name__} has no field {name}: {list(known)}'
        kind, old = known[name], getattr(message, name)
        if kind.message is not None and kind.many:
            setattr(message, name, [fill(kind.message(), each) for each in value])
        elif kind.message is not None:
            fill(old, value)
        elif isinstance(value, list):
            numbers = getattr(old, 'typecode', '') == 'd'
            setattr(message, name, [float(each) for each in value] if numbers else value)
        else:
            setattr(message, name, float(value) if isinstance(old, float) else value)
    return message
