"""Read the stamps of replies."""


def stamp_of(reply):
    """Return the stamp of the oldest joint state used for a reply [ns], 0: none."""
    from dynamics_node.ros.convert import nanoseconds
    return nanoseconds(reply.state_stamp)
