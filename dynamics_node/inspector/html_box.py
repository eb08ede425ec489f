"""Put markup on the page; text that is not escaped cannot reach it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynamics_node.reports.markup import Markup, tag

if TYPE_CHECKING:
    import viser

LAST = 1e9   # order of an element at the end of its container
STYLE = 'padding:4px 8px;font-size:13px;overflow-wrap:anywhere'


class HtmlBox:
    """A part of the page with HTML."""

    def __init__(self, gui: viser.GuiApi, content: Markup | None = None,
                 order: float | None = None):
        """Add it to the container that is open.

        :param order: LAST for its end; None: after what is there.
        """
        self._shown = '' if content is None else str(content)
        self._handle = gui.add_html(self._shown, order=order)

    def show(self, content: Markup) -> None:
        """Show other markup; unchanged markup is not sent again."""
        text = str(content)   # viser encodes str alone, not its subclasses
        if text != self._shown:
            self._shown, self._handle.content = text, text

    def say(self, text: str, strong: bool = False) -> None:
        """Show a text, escaped; '' for nothing."""
        style = f'{STYLE};font-weight:700' if strong else STYLE
        self.show(tag('div', text, style=style) if text else Markup(''))
