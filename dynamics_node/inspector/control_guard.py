"""Guard the controls: a code opens them for one client, wrong codes lock them for the process."""

import hmac
import secrets
import threading

TRIES = 5      # wrong codes of all clients together, after which the controls are locked
LENGTH = 12    # of a code
SIGNS = 'abcdefghjkmnpqrstuvwxyz23456789'   # without those that look alike
EXPLAINED = ('Type the code that the inspector has printed in its terminal. It keeps other '
             'programs and web pages from controlling the robot.')
LOCKED = (f'Locked: {TRIES} wrong codes were typed. Only disabling is left, for pages that had '
          'typed the code before; to open the controls again, start the inspector anew.')


class ControlGuard:
    """Decides which clients may control the node; used from several threads."""

    def __init__(self, code: str) -> None:
        """Open the controls to clients that type this code."""
        self._code, self._wrong = code.encode(), 0
        self._opened: set[int] = set()   # ids of clients; viser never gives one twice
        self._lock = threading.Lock()

    def refusal(self, client: int, typed: str, disables: bool = False) -> str:
        """Return why a request is refused, '' if it is allowed.

        :param client: id of the client that has clicked.
        :param typed: code; '' does not count as a try. The right one opens the controls for good.
        :param disables: whether the request disables torques.
        """
        with self._lock:
            if self._wrong >= TRIES:
                return '' if disables and client in self._opened else LOCKED
            if not typed:
                return '' if client in self._opened else f'Refused: no code. {EXPLAINED}'
            if hmac.compare_digest(typed.encode('utf-8', 'replace'), self._code):
                self._opened.add(client)
                return ''
            self._wrong += 1
            return LOCKED if self._wrong >= TRIES else (
                f'Refused: the code is wrong; {TRIES - self._wrong} tries are left. {EXPLAINED}')


def new_code() -> str:
    """Return a random code."""
    return ''.join(secrets.choice(SIGNS) for _ in range(LENGTH))
