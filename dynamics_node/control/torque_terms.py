"""Compute the terms of a torque for one robot, with gravity and friction scaled."""

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.algorithms.operational_space import reference_inertia
from dynamics_node.control.closed_loops import ClosedLoops
from dynamics_node.control.gains import per_joint
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

TURN = 2.0 * np.pi


class TorqueTerms:
    """The terms that the laws use, prepared once per robot for loops of 1 kHz.

    The scales correct joints of which the model is wrong, as in many URDFs: each multiplies its
    term, joint by joint.

    :param gravity_scale: factor of g(q), a number or (nv,).
    :param friction_scale: factor of the joint friction, damping and dry friction; as above.
    :ivar max_velocity: of the URDF, (nv,), inf where unknown [rad/s or m/s].
    :ivar loops: ClosedLoops of the robot, None where there are none. The terms are those of the
        tree; ClosedLoops.motor_torques converts them.
    """

    def __init__(self, robot: Robot, gravity_scale: ArrayLike = 1.0,
                 friction_scale: ArrayLike = 1.0) -> None:
        self.robot = arguments.check_robot(robot)
        gravity_scale = per_joint('gravity_scale', gravity_scale, robot.nv)
        friction_scale = per_joint('friction_scale', friction_scale, robot.nv)
        with_friction = ((friction_scale > 0.0) & robot.model.has_friction).any()
        self._frictionless = without_friction(robot)
        self._gravity_scale = None if (gravity_scale == 1.0).all() else gravity_scale
        self._friction_scale = friction_scale if with_friction else None
        self._unscaled_friction = (friction_scale == 1.0).all()
        self._subtracts = robot.nq == robot.nv   # difference of configurations is that of arrays
        self._springs = bool(robot.springs)
        self._turning = turning_dofs(robot)
        known = ~np.isnan(robot.model.max_velocity)
        self.max_velocity = np.where(known, robot.model.max_velocity, np.inf)
        self._references: dict[str, np.ndarray] = {}   # frame -> its reference inertia
        self.loops = ClosedLoops(robot) if robot.loops.constraints else None

    @property
    def robots(self) -> tuple[Robot, Robot]:
        """The robots whose kernels are used."""
        return self.robot, self._frictionless

    def gravity(self, q: np.ndarray) -> np.ndarray:
        """Return s_g g(q), with the scale s_g, and the torques of springs at rest."""
        tau = self.robot.gravity_torque(q)
        if self._gravity_scale is not None:
            tau = self._gravity_scale * tau
        return tau + self.robot.spring_torque(q, np.zeros(q.shape)) if self._springs else tau

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return C(q, v) v + s_g g(q), and the torques of springs."""
        tau = self._with_gravity_scaled(self.robot.bias_torque(q, v), q)
        return tau + self.robot.spring_torque(q, v) if self._springs else tau

    def motion_torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return M(q) a + C(q, v) v + s_g g(q) and the torques of springs: all but friction.

        In a robot with loops the accelerations of passive joints follow from the actuated ones.
        """
        if self.loops is not None:
            a = self.loops.accelerations(q, v, a)
        return self._with_gravity_scaled(self._frictionless.inverse_dynamics(q, v, a), q)

    def friction(self, v: np.ndarray) -> np.ndarray | float:
        """Return the torque that compensates friction at velocity v, scaled."""
        if self._friction_scale is None:
            return 0.0
        if self._unscaled_friction:
            return self.robot.friction_torque(v)
        return self._friction_scale * self.robot.friction_torque(v)

    def error(self, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Return e, the velocity that leads from q to the wanted configuration in 1 s, (nv,).

        For continuous joints e is the shorter way round: a driver may report pi - 0.1 now and
        -pi + 0.1 a moment later.
        """
        e = wanted - q if self._subtracts else self.robot.difference(q, wanted)
        if self._turning.size:
            angle = e[..., self._turning]
            e[..., self._turning] = angle - TURN * np.round(angle / TURN)
        return e

    def reference_inertia(self, frame: str) -> np.ndarray:
        """Return the unit of the inertia seen from a frame, (6,) [kg, kg m^2]."""
        if frame not in self._references:
            self._references[frame] = reference_inertia(self.robot.model, [frame])
        return self._references[frame]

    def _with_gravity_scaled(self, tau: np.ndarray, q: np.ndarray) -> np.ndarray:
        if self._gravity_scale is None:
            return tau
        return tau + (self._gravity_scale - 1.0) * self.robot.gravity_torque(q)


def turning_dofs(robot: Robot) -> np.ndarray:
    """Return the indices in v of the angles that may change by a whole turn at the same pose.

    Those of continuous and planar joints, except joints that others mimic: the others would move.
    """
    return np.array([joint.v.stop - 1 for joint in robot.model.joints
                     if joint.kind in ('continuous', 'planar') and not joint.mimics], dtype=int)


def without_friction(robot: Robot) -> Robot:
    """Return a robot whose joints have no friction, the same if it has none."""
    if not robot.model.has_friction.any():
        return robot
    none = dict.fromkeys(robot.joint_names, 0.0)
    return robot.with_friction(none, none, none, None, none, none)
