"""Integrate with steps chosen by the error: the solvers of SciPy, in local coordinates.

The solvers are those of scipy.integrate.solve_ivp, stepped here: local coordinates begin anew where
a floating joint has turned by TURN. A batch is one system with common steps.
"""

import numpy as np
from scipy.integrate import DOP853, Radau

from dynamics_node.errors import DynamicsError
from dynamics_node.model.local_coordinates import greatest_rotation, moved
from dynamics_node.simulation.equations_of_motion import EquationsOfMotion

SOLVERS = {'dop853': DOP853, 'radau': Radau}
TURN = 1.0  # [rad]; local coordinates are singular at 2 pi


class Adaptive:
    """Advance states by a solver of SciPy; each call starts with the last length of a step."""

    def __init__(self, equations: EquationsOfMotion, method: str, tolerance: float):
        self._equations, self._solver, self._tolerance = equations, SOLVERS[method], tolerance
        self._step: float | None = None

    def advance(self, start: float, end: float, q: np.ndarray, v: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
        """Return (q, v) at the time `end` from those at `start`."""
        while start < end and v.size:
            start, q, v = self._until_turned(start, end, q, v)
        return q, v

    def _until_turned(self, start: float, end: float, q0: np.ndarray, v0: np.ndarray
                      ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return (t, q, v) at the end, or where new local coordinates must begin."""
        model, shape = self._equations.model, (2, *v0.shape)

        def rates(t: float, y: np.ndarray) -> np.ndarray:
            return np.concatenate([part.ravel() for part in self._equations.rates(
                t, q0, *y.reshape(shape))])
        first = None if self._step is None else min(self._step, end - start)
        solver = self._solver(rates, start, np.stack([np.zeros_like(v0), v0]).ravel(), end,
                              rtol=self._tolerance, atol=self._tolerance, first_step=first)
        x = np.zeros_like(v0)
        while solver.status == 'running' and greatest_rotation(model, x) < TURN:
            failure = solver.step()
            if failure:
                raise DynamicsError(f'the motion cannot be integrated at t = {solver.t:.6g} s: '
                                    f'{failure} Expected smooth torques, or a larger tolerance')
            x = solver.y.reshape(shape)[0]
        self._step = solver.h_abs
        return solver.t, moved(model, q0, x), solver.y.reshape(shape)[1]
