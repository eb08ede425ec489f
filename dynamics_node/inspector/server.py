"""Start the web server of the inspector: viser, bound to this machine unless told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.same_origin import only_own_pages
from dynamics_node.inspector.served_reports import ServedReports

if TYPE_CHECKING:
    import viser

LOCAL = '127.0.0.1'
PORT = 8080
MISSING = ("the inspector needs viser, which is not installed ({}): pip install "
           "'dynamics_node[inspector]', or pip install viser pycollada")
UNGUARDED = ('this version of viser starts its server in another way, so that websockets of '
             'foreign web pages cannot be refused: pip install "viser==1.1.1"')


def open_server(host: str = LOCAL, port: int = PORT, title: str = 'inspector',
                reports: ServedReports | None = None) -> viser.ViserServer:
    """Return a running server; the next free port is used if this one is taken.

    Websockets of pages that it has not served are refused.

    :param port: 0 for any free port.
    :param reports: served beside the page; None for none.
    :raise DynamicsError: viser is not installed, or cannot refuse them.
    """
    try:
        import viser
    except ImportError as error:
        raise DynamicsError(MISSING.format(error)) from error

    class LocalServer(viser.ViserServer):
        """A server that is never published on the internet, whatever a page requests."""

        def request_share_url(self, verbose: bool = True) -> None:
            """Do nothing; viser would open a tunnel to a public address."""

    with only_own_pages(host, reports or ServedReports()) as guarded:
        server = LocalServer(host=host, port=port, label=title, verbose=False)
    if not guarded:
        server.stop()
        raise DynamicsError(UNGUARDED)
    server.gui.configure_theme(show_logo=False, show_share_button=False, dark_mode=False,
                               control_width='large')
    return server


def address_of(server: viser.ViserServer) -> str:
    """Return the address to open in a browser."""
    host = server.get_host()
    return f'http://{"localhost" if host == LOCAL else host}:{server.get_port()}'
