"""Keep the HTML reports that a page links to, in memory; no file of the machine is served."""

import re
import secrets
import threading
from collections import OrderedDict

MOST = 20          # reports; the oldest is dropped
PREFIX = '/reports/'
# A report has no script, and loads nothing. It is of another origin than the page: a report that a
# hostile node has written cannot act on the page.
HEADERS = {'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store',
           'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer',
           'Content-Security-Policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; "
                                      'img-src data:'}


class ServedReports:
    """Reports by their paths; used from several threads."""

    def __init__(self) -> None:
        """Start without reports."""
        self._pages: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, name: str, page: str | bytes) -> str:
        """Keep a report; return the path under which it is served, which cannot be guessed."""
        stem = re.sub(r'[^A-Za-z0-9_-]+', '_', name).strip('_')[:60] or 'report'
        path = f'{PREFIX}{secrets.token_hex(16)}/{stem}.html'
        with self._lock:
            self._pages[path] = page.encode() if isinstance(page, str) else page
            while len(self._pages) > MOST:
                self._pages.popitem(last=False)
        return path

    def page(self, path: str) -> bytes | None:
        """Return the report at a path, None if there is none."""
        with self._lock:
            return self._pages.get(path)
