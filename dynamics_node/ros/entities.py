"""What configuring a node has made, in the order in which it was made; and how it is unmade."""


class Entities:
    """Timers, subscriptions, services and all else that is destroyed on cleanup.

    The events executor calls back for what it has queued, destroyed meanwhile or not: a timer that
    was due while the cleanup ran, a request that waited behind it. Such a callback would use
    publishers and timers that are gone. So each callback is taken away first.
    """

    def __init__(self):
        self._made = []  # (destroy, entity)

    def add(self, destroy, *entities):
        """Note what destroy(entity) is to be called for."""
        self._made += [(destroy, entity) for entity in entities]

    def extend(self, made):
        """Note several, (destroy, entity) each."""
        self._made += made

    def destroy(self):
        """Destroy all, the last one first."""
        for _, entity in self._made:
            silence(entity)
        while self._made:
            destroy, entity = self._made.pop()
            destroy(entity)


def silence(entity):
    """Let a timer, a subscription or a service call nothing and send nothing any more."""
    for name in ('callback', 'send_response'):
        if hasattr(entity, name):
            setattr(entity, name, _nothing)


def _nothing(*_):
    pass
