"""Measure torques with and without an open page of the inspector, and the cost of the inspector.

python benchmark/torque_with_inspector.py [--seconds 20] [--rate 500] [--browser]    prints JSON,
as ros_calls.py does. The page is a client that takes all that is sent to it: a browser draws on
another machine. With --browser it is a page in a headless Chromium of this machine, which draws in
software; where Chromium or Playwright is missing, it is the client, and the rows say so.
"""

import argparse
import gc
import importlib.util
import json
import os
import select
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import numpy as np
import rclpy
from ros_calls import server
from torque_under_load import Driver

from dynamics_node.ros.torque import realtime

DRIVER = 60         # real-time priority of the simulated driver, where it is granted
TURNS = 3           # without and with the page, one after the other
DRAWN = 10.0        # [s] until the page shows the robot
P99, SHARE = 1.1, 20.0   # bars: p99 with over without the page; percent of a core at 10 Hz
CLIENT = """
import sys
import msgspec
import viser
from websockets.sync.client import connect
port = sys.argv[1]
socket = connect(f'ws://127.0.0.1:{port}', origin=f'http://127.0.0.1:{port}', max_size=None,
                 subprotocols=[f'viser-v{viser.__version__}'])
socket.send(msgspec.msgpack.encode({
    'type': 'ViewerCameraMessage', 'wxyz': (1.0, 0.0, 0.0, 0.0), 'position': (1.0, 1.0, 1.0),
    'fov': 1.0, 'near': 0.1, 'far': 10.0, 'image_height': 9, 'image_width': 9,
    'look_at': (0.0, 0.0, 0.0), 'up_direction': (0.0, 0.0, 1.0)}))
while True:
    socket.recv()
"""
BROWSER = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(executable_path=sys.argv[2], args=[
        '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'])
    page = chromium.new_page(viewport={'width': 1280, 'height': 800})
    page.goto(f'http://127.0.0.1:{sys.argv[1]}')
    page.get_by_text('joint states at the node').first.wait_for(timeout=60_000)
    print('drawn', flush=True)
    sys.stdin.read()
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=20.0, help='of each turn')
    parser.add_argument('--rate', type=float, default=500.0, help='of joint states [Hz]')
    parser.add_argument('--browser', action='store_true', help='open the page in Chromium')
    options = parser.parse_args()
    rclpy.init()
    try:
        print(json.dumps(measure(options)))
    finally:
        rclpy.try_shutdown()


def measure(options):
    """Return {what: [value, unit, bar]}."""
    delays = {'no page': [], 'open page': []}
    shares, missed = [], 0
    chromium = chromium_path() if options.browser else None
    page = 'a page in Chromium' if chromium else 'an open page'
    with server() as process:
        driver = Driver(process)
        realtime.request(DRIVER)
        gc.freeze()    # a collection stops the simulated driver for 40 ms, which no driver in C++
        gc.disable()   # does
        for _ in range(TURNS):
            delays['no page'].append(driver.run(options.rate, options.seconds).delays)
            with open_page(chromium) as (inspector, client):
                wait_until_drawn(client, chromium, lambda: driver.pace(options.rate, DRAWN))
                begin, used = time.monotonic(), cpu_seconds(inspector)
                found = driver.run(options.rate, options.seconds)
                shares.append((cpu_seconds(inspector) - used) / (time.monotonic() - begin))
            delays['open page'].append(found.delays)
            missed += found.missed
    p99 = {name: float(np.median([np.percentile(each, 99) for each in turns])) * 1e6
           for name, turns in delays.items()}
    rate = f'{options.rate:g} Hz'
    return {f'{rate}, no page: joint state to torque, p99': [p99['no page'], 'us', None],
            f'{rate}, {page}: joint state to torque, p99': [p99['open page'], 'us', None],
            f'{rate}: p99 with {page} over none': [p99['open page'] / p99['no page'], 'x', P99],
            f'{rate}: joint states without a torque, with {page}': [missed, '', None],
            'inspector, of one core': [100.0 * float(np.median(shares)), '%', SHARE]}


def chromium_path():
    """Return the path of Chromium; None if it or Playwright is missing."""
    return shutil.which('chromium') if importlib.util.find_spec('playwright') else None


@contextmanager
def open_page(chromium):
    """Run the inspector with one page; yield its process id and the process of the page.

    :param chromium: path of the browser; None: a client without one.
    """
    inspector = subprocess.Popen(
        [sys.executable, '-m', 'dynamics_node', 'inspect-live', '--port', '0'],
        stdout=subprocess.PIPE, text=True, cwd='/')
    client = None
    try:
        line = next(line for line in inspector.stdout if 'open http' in line)
        port = line.split('http://')[1].split()[0].rpartition(':')[2]
        script = [CLIENT, port] if chromium is None else [BROWSER, port, chromium]
        client = subprocess.Popen([sys.executable, '-c', *script], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        yield inspector.pid, client
    finally:
        if client is not None and chromium is not None:
            client.stdin.close()   # Playwright closes the browser
            with suppress(subprocess.TimeoutExpired):
                client.wait(20.0)
        for process in filter(None, (client, inspector)):
            process.terminate()
            process.wait()


def wait_until_drawn(client, chromium, drive):
    """Call drive(), which takes a while, until the page shows the robot.

    :raise RuntimeError: the browser has ended.
    """
    drive()
    while chromium is not None and not select.select([client.stdout], [], [], 0.0)[0]:
        drive()
    if client.poll() is not None or (chromium is not None and not client.stdout.readline()):
        raise RuntimeError('the page has ended before it has shown the robot')


def cpu_seconds(pid):
    """Return the time that a process has used on all cores [s]."""
    with open(f'/proc/{pid}/stat') as file:
        fields = file.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


if __name__ == '__main__':
    main()
