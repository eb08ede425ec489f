"""Connect to a page of the inspector as a browser does: see its elements, type and click."""

import time

CAMERA = {'type': 'ViewerCameraMessage', 'wxyz': (1.0, 0.0, 0.0, 0.0), 'position': (1.0, 1.0, 1.0),
          'fov': 1.0, 'near': 0.1, 'far': 10.0, 'image_height': 9, 'image_width': 9,
          'look_at': (0.0, 0.0, 0.0), 'up_direction': (0.0, 0.0, 1.0)}


class PageSocket:
    """A client of a page; `uuids` are those of the elements that it was sent, by label."""

    def __init__(self, server, origin='http://127.0.0.1:{}'):
        """Connect and report a camera, which is when viser says that a client is there."""
        import viser
        from websockets.sync.client import connect
        port = server.get_port()
        self._socket = connect(f'ws://127.0.0.1:{port}', origin=origin and origin.format(port),
                               subprotocols=[f'viser-v{viser.__version__}'], max_size=None)
        self.uuids, self.texts = {}, []
        self._send(CAMERA)

    def read(self, duration=0.5):
        """Take what the server sends for a time [s]."""
        import msgspec
        import zstandard
        end = time.monotonic() + duration
        while time.monotonic() < end:
            try:
                data = self._socket.recv(timeout=0.1)
            except TimeoutError:
                continue
            size, packed = (int.from_bytes(data[at:at + 8], 'little') for at in (0, 8))
            self._take(msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(
                data[16:16 + packed], max_output_size=size)))

    def wait_for(self, label, duration=10.0):
        """Read until an element is there."""
        end = time.monotonic() + duration
        while label not in self.uuids and time.monotonic() < end:
            self.read(0.1)
        return self.uuids[label]

    def put(self, uuid, value):
        """Change the value of an element; True clicks a button."""
        self._send({'type': 'GuiUpdateMessage', 'uuid': uuid, 'updates': {'value': value}})

    def close(self):
        self._socket.close()

    def _send(self, message):
        import msgspec
        self._socket.send(msgspec.msgpack.encode(message))

    def _take(self, part):
        if isinstance(part, dict):
            label = (part.get('props') or {}).get('label') if 'uuid' in part else None
            if label:
                self.uuids[label] = part['uuid']
            part = part.values()
        elif isinstance(part, str):
            self.texts.append(part)
            return
        if not isinstance(part, (int, float, bytes, type(None))):
            for each in part:
                self._take(each)
