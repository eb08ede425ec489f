"""The parts that a torque is made of, for one robot, with its gravity and losses scaled."""

import numpy as np

from dynamics_node.algorithms.operational_space import reference_inertia
from dynamics_node.control.closed_loops import ClosedLoops
from dynamics_node.control.gains import per_joint
from dynamics_node.robot import arguments

TURN = 2.0 * np.pi


class Terms:
    """What the laws ask of a robot, prepared once, since they ask a thousand times a second.

    The scales correct a model that is wrong at some joint, as many URDFs are: each multiplies its
    part of the torque, joint by joint. Where all are 1 nothing is multiplied.

    :param gravity_scale: of g(q), a number or (nv,).
    :param friction_scale: of the losses in the joints, damping and dry friction; as above.
    :ivar max_velocity: of the URDF, (nv,), inf where it does not say [rad/s or m/s].
    :ivar loops: ClosedLoops of the robot, None where there are none. The terms are those of the
        tree: what they come to at the motors is for the loops to say.
    """

    def __init__(self, robot, gravity_scale=1.0, friction_scale=1.0):
        self.robot = arguments.check_robot(robot)
        gravity_scale = per_joint('gravity_scale', gravity_scale, robot.nv)
        friction_scale = per_joint('friction_scale', friction_scale, robot.nv)
        losses = ((friction_scale > 0.0) & (robot.model.damping + robot.model.friction > 0.0)).any()
        self._lossless = _without_losses(robot)
        self._gravity_scale = None if (gravity_scale == 1.0).all() else gravity_scale
        self._friction_scale = friction_scale if losses else None
        self._unscaled_friction = (friction_scale == 1.0).all()
        self._flat = robot.nq == robot.nv
        self._turning = turning(robot)
        self.max_velocity = _speed_limits(robot)
        self._references = {}  # frame -> its reference inertia
        self.loops = ClosedLoops(robot) if robot.loops.constraints else None

    @property
    def robots(self):
        """The robots whose kernels are used."""
        return self.robot, self._lossless

    def gravity(self, q):
        """Return s_g g(q), with the scale s_g."""
        if self._gravity_scale is None:
            return self.robot.gravity_torque(q)
        return self._gravity_scale * self.robot.gravity_torque(q)

    def bias(self, q, v):
        """Return C(q, v) v + s_g g(q)."""
        return self._with_gravity_scaled(self.robot.bias_torque(q, v), q)

    def moving(self, q, v, a):
        """Return M(q) a + C(q, v) v + s_g g(q): all but the losses.

        Of a robot with loops, passive joints accelerate as the active ones make them.
        """
        if self.loops is not None:
            a = self.loops.accelerations(q, v, a)
        return self._with_gravity_scaled(self._lossless.inverse_dynamics(q, v, a), q)

    def friction(self, v):
        """Return the torque that makes up for the losses at velocity v, scaled."""
        if self._friction_scale is None:
            return 0.0
        if self._unscaled_friction:
            return self.robot.friction_torque(v)
        return self._friction_scale * self.robot.friction_torque(v)

    def error(self, q, wanted):
        """Return e, the velocity that leads from q to the wanted one in a second, (nv,).

        Joints that turn without end take the shorter way round: a driver may report pi - 0.1 now
        and -pi + 0.1 a moment later.
        """
        e = wanted - q if self._flat else self.robot.difference(q, wanted)
        if self._turning.size:
            angle = e[..., self._turning]
            e[..., self._turning] = angle - TURN * np.round(angle / TURN)
        return e

    def reference_inertia(self, frame):
        """Return what the inertia seen from a frame is measured by, (6,) [kg, kg m^2]."""
        if frame not in self._references:
            self._references[frame] = reference_inertia(self.robot.model, [frame])
        return self._references[frame]

    def _with_gravity_scaled(self, tau, q):
        if self._gravity_scale is None:
            return tau
        return tau + (self._gravity_scale - 1.0) * self.robot.gravity_torque(q)


def turning(robot):
    """Return the places in v of the angles that a whole turn brings back to the same pose.

    Those of continuous and planar joints. One that others mimic is none: they go elsewhere.
    """
    return np.array([joint.v.stop - 1 for joint in robot.model.joints
                     if joint.kind in ('continuous', 'planar') and not joint.mimics], dtype=int)


def _speed_limits(robot):
    limits = np.full(robot.nv, np.inf)
    for joint in robot.model.joints:
        if not np.isnan(joint.max_velocity):
            limits[joint.v] = joint.max_velocity
    return limits


def _without_losses(robot):
    if not (robot.model.damping.any() or robot.model.friction.any()):
        return robot
    none = dict.fromkeys(robot.joint_names, 0.0)
    return robot.with_friction(none, none)
