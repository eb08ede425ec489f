"""Check that a page is well-formed, self-contained and has only finite numbers."""

import re
from html.parser import HTMLParser

VOID = {'meta', 'br'}
ASSETS = ('src', 'href', 'srcset', 'data', 'poster', 'action')


class Page(HTMLParser):
    """A parsed page: its elements, and its errors."""

    def __init__(self, html):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert self.open == [], f'never closed: {self.open}'

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f'</{tag}> closes {self.open[-3:]}'
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)

    def of(self, tag):
        """Return the attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return ''.join(self.texts)


def checked(html):
    """Return the Page after the checks that every page must pass."""
    assert html.startswith('<!DOCTYPE html>\n')
    page = Page(html)
    assert not page.of('script') and not page.of('link') and not page.of('iframe')
    for tag, attributes in page.elements:
        assert not set(attributes) & set(ASSETS), (tag, attributes)
        assert not any(name.startswith('on') for name in attributes), (tag, attributes)
    style = html[html.index('<style>'):html.index('</style>')]
    assert 'url(' not in style and '@import' not in style
    assert '@media print' in style and 'size: A4' in style
    drawings = page.of('svg')
    for drawing in drawings:
        assert drawing['role'] == 'img' and re.fullmatch(r'0 0 [\d.]+ [\d.]+', drawing['viewbox'])
    assert html.count('<svg') == len(re.findall(r'<svg[^>]*><title>[^<]', html))
    assert html.count('<svg') == len(re.findall(r'</title><desc>[^<]', html))
    for attributes in page.of('path'):
        assert re.fullmatch(r'([MLC]|-?\d+(\.\d+)?|[ ,])*', attributes['d']), attributes['d'][:80]
    for name in ('x', 'y', 'cx', 'cy', 'r', 'rx', 'ry', 'width', 'height'):
        for _, attributes in page.elements:
            if name in attributes:
                float(attributes[name])
    assert not re.search(r'\bnan\b|\binf\b', html[len(style):], re.I), 'a number that is none'
    return page
