"""Open pages in Debian's Chromium, driven by Playwright; skip where there is none."""

import contextlib
import io
import os
import shutil

import numpy as np
import pytest

ARGUMENTS = ('--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader',
             '--enable-unsafe-swiftshader')
PATIENCE = 120_000   # [ms] a page that is drawn in software beside busy processes is slow
HOW = 'no browser: `make test-browser` installs Chromium and Playwright and runs these tests'
SIZE = {'width': 1280, 'height': 800}


@contextlib.contextmanager
def browser():
    """Yield a browser; skip the test if Playwright or Chromium is missing."""
    sync_api = pytest.importorskip('playwright.sync_api', reason=HOW)
    chromium = shutil.which('chromium')
    if chromium is None:
        pytest.skip(HOW)
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield opened
        opened.close()


def open_page(opened, address, text):
    """Return the page at an address once it shows a text; close what viser says of the GPU."""
    page = opened.new_page(viewport=SIZE)
    page.set_default_timeout(PATIENCE)
    page.errors = []
    page.on('pageerror', lambda error: page.errors.append(str(error)))
    page.goto(address)
    page.get_by_text(text).first.wait_for()
    close_notices(page)
    return page


def close_notices(page):
    """Close the notifications that are open."""
    notices = page.locator('.mantine-Notification-closeButton')
    with contextlib.suppress(Exception):   # one may close by itself
        while notices.count():
            notices.first.click(timeout=2000)


def shows(page, text):
    """Wait until a text is on the page."""
    page.get_by_text(text).first.wait_for()


def open_tab(page, name):
    """Open a tab of a panel."""
    page.get_by_role('tab', name=name, exact=True).first.click()


def type_number(page, label, value):
    """Type a number beside a label, and press enter."""
    row = page.locator('label', has_text=label).first
    field = row.locator('xpath=ancestor::div[.//input][1]//input').last
    field.fill(str(value))
    field.press('Enter')


def screenshot(page, name):
    """Save a picture of the page where DYNAMICS_NODE_SCREENSHOTS says, for the docs."""
    folder = os.environ.get('DYNAMICS_NODE_SCREENSHOTS')
    if folder:
        # viser says late that it draws in software
        page.screenshot(path=os.path.join(folder, f'{name}.png'),
                        style='.mantine-Notification-root { visibility: hidden; }')


def canvas_pixels(page):
    """Return the pixels of the 3D view, (height, width, 3)."""
    from PIL import Image
    picture = page.screenshot(clip={'x': 420, 'y': 120, 'width': 440, 'height': 560})
    return np.asarray(Image.open(io.BytesIO(picture)).convert('RGB'), dtype=float)
