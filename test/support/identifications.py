"""Provide samples of an identification: one that runs, one that is done."""

import numpy as np

from dynamics_node.inspector.identify_state import IdentifyFound, IdentifyState
from support.nasty_robot import NASTY

FOUND = IdentifyFound(
    True, '', ['upper', NASTY], np.array([2.0, 1.0]), np.array([0.2, 0.1]), np.array([9.0, 4.0]),
    10.0, 0.03, 41.2, ['upper.m', 'upper.mcx', 'lower.m'], ['kg', 'kg m', 'kg'],
    np.array([2.0, 0.5, 1.0]), np.array([2.5, 0.5, 4.0]), [True, True, False],
    ['the noise is large'], ['/a/report.html'], b'<html>report</html>')
RUNNING = IdentifyState('recording', 0.25, 120, running=True)
DONE = IdentifyState('done', 1.0, 500, 41.2, 0.15, found=FOUND)
