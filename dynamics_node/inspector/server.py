"""Start the web server of the inspector: viser, bound to this machine unless told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamics_node.errors import DynamicsError

if TYPE_CHECKING:
    import viser

LOCAL = '127.0.0.1'
PORT = 8080
MISSING = ("the inspector needs viser, which is not installed ({}): pip install "
           "'dynamics_node[inspector]', or pip install viser pycollada")


def open_server(host: str = LOCAL, port: int = PORT, title: str = 'inspector'
                ) -> viser.ViserServer:
    """Return a running server; the next free port is used if this one is taken.

    :param port: 0 for any free port.
    :raise DynamicsError: viser is not installed.
    """
    try:
        import viser
    except ImportError as error:
        raise DynamicsError(MISSING.format(error)) from error

    class LocalServer(viser.ViserServer):
        """A server that is never published on the internet, whatever a page requests."""

        def request_share_url(self, verbose: bool = True) -> None:
            """Do nothing; viser would open a tunnel to a public address."""

    server = LocalServer(host=host, port=port, label=title, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, dark_mode=False,
                               control_width='large')
    return server


def address_of(server: viser.ViserServer) -> str:
    """Return the address to open in a browser."""
    host = server.get_host()
    return f'http://{"localhost" if host == LOCAL else host}:{server.get_port()}'
