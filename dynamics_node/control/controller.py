"""Compute the torque to send from joint state and reference, for one robot, mode and driver."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.control import laws
from dynamics_node.control.blended_pose_spline import TaskMotionSample
from dynamics_node.control.braking import braking_rate
from dynamics_node.control.closed_loops import check_support
from dynamics_node.control.driver_compensation import (
    DriverCompensation,
    driver_terms,
    friction_to_send,
    preset,
)
from dynamics_node.control.gains import Gains, TaskGains
from dynamics_node.control.spline import MotionSample
from dynamics_node.control.torque_terms import TorqueTerms
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.robot import arguments
from dynamics_node.robot.robot import Robot

FLOAT = np.dtype(float)
MOST_PREDICTED = 60   # degrees of freedom; humanoids have 30 to 50


class Controller:
    """Compute the torque to send from measured state and reference. Immutable, like its robot.

    No torque is limited here: the safety gate does that.

    In a robot with loops the motors bear the load of the passive joints too. The torques of passive
    joints are zero; their reference and gains are ignored, since the loops determine their motion
    (closed_loops.py). A robot with a floating base needs contacts among its constraints: without
    them `torque` raises an error.

    :param mode: one of laws.MODES.
    :param gains: Gains for the modes with feedback; TaskGains for task_space.
    :param driver_compensation: what the driver adds: a preset's name, or DriverCompensation.
    :param gravity_scale, friction_scale: see TorqueTerms; a number or (nv,).
    :ivar needs_reference: whether torque() needs a motion, and v.
    :raise DynamicsError: which argument is wrong, and what is valid.
    """

    def __init__(self, robot: Robot, mode: str = 'gravity', gains: Gains | TaskGains | None = None,
                 driver_compensation: str | DriverCompensation = 'full',
                 gravity_scale: ArrayLike = 1.0, friction_scale: ArrayLike = 1.0) -> None:
        arguments.check_robot(robot)
        if not isinstance(mode, str) or mode not in list(laws.MODES):
            raise DynamicsError(f'no torque mode {shown(mode)}; expected one of '
                                f'{", ".join(laws.MODES)}')
        if mode in laws.WITH_GAINS:
            _check_gains(mode, gains, robot.nv)
        if mode == laws.TASK_SPACE:
            _check_task(robot, gains)
        driver = driver_compensation
        if not isinstance(driver, DriverCompensation):
            driver = preset(driver)
        self.robot, self.mode, self.needs_reference = robot, mode, mode != 'gravity'
        self._settings = mode, gains, driver, gravity_scale, friction_scale
        self._law = laws.MODES[mode]
        friction_scale = friction_to_send(driver, friction_scale, robot.nv)
        self._terms = TorqueTerms(robot, gravity_scale, friction_scale)
        self._loops = self._terms.loops
        self._supported = self._loops is not None or robot.nq == robot.nv
        self._gains = gains if self._loops is None or gains is None else Gains(
            *(np.where(self._loops.actuated, each, 0.0) for each in gains))
        self._driver_terms = driver_terms(driver, robot, gravity_scale, friction_scale)
        self._driver_law = self._law if driver.kind == 'payload_only' else laws.gravity
        self._shapes = (robot.nq,), (robot.nv,)

    def for_robot(self, robot: Robot) -> 'Controller':
        """Return the same controller for another robot, e.g. with another payload."""
        return Controller(robot, *self._settings)

    def compile(self, wait: bool = False, frames: Sequence[str] = (),
                payloads: bool = False) -> 'Controller':
        """Compile the kernels of its laws, see Robot.compile; frames are those of references."""
        for terms in filter(None, (self._terms, self._driver_terms)):
            for robot in terms.robots:
                robot.compile(wait, frames, payloads=payloads)
        return self

    def torque(self, q: ArrayLike, v: ArrayLike | None = None,
               motion: MotionSample | TaskMotionSample | None = None) -> np.ndarray:
        """Return the torque to send, (nv,) [N m or N].

        :param q, v: measured, (nq,) and (nv,). Mode gravity ignores v.
        :param motion: sample of the reference; a TaskMotionSample for task_space.
        :raise DynamicsError: an argument is missing, of the wrong size, or not finite; or nothing
            holds a floating base.
        """
        if not self.needs_reference:
            return self.holding_torque(q)
        if not self._supported:
            check_support(self.robot)
        if v is None or motion is None:
            raise DynamicsError(f"mode {self.mode} needs v and the reference's motion")
        return self._command(self._law, self._driver_law, *self._checked(q, v, motion))

    def holding_torque(self, q: ArrayLike) -> np.ndarray:
        """Return the torque that holds the arm where it is, that of mode gravity, (nv,).

        The safety gate ends in this torque, in every mode.
        """
        if not self._supported:
            check_support(self.robot)
        position = _floats('q', q, self._shapes[0])
        if self._driver_terms is None and self._loops is None:
            return self._terms.gravity(position)
        return self._command(laws.gravity, laws.gravity, position, None, None)

    @property
    def can_brake(self) -> bool:
        """Whether its torques can bring the robot to rest.

        Not if the driver moves the robot by itself, and not with a floating base.
        """
        return self._settings[2].kind != 'payload_only' and self.robot.nq == self.robot.nv

    def braking_torque(self, q: ArrayLike, v: ArrayLike, effort: ArrayLike,
                       max_rate: float) -> np.ndarray:
        """Return the torque that brakes the robot as fast as the effort limits permit, (nv,).

        :param q, v: measured, (nq,) and (nv,).
        :param effort: limits of the torque to send, (nv,).
        :param max_rate: greatest share of the velocity to remove per second [1/s].
        """
        if not self.can_brake:
            return self.holding_torque(q)
        nq, nv = self._shapes
        position, velocity = _floats('q', q, nq), _floats('v', v, nv)
        limits = checks.finite('effort', effort, nv)
        rate = checks.positive('max_rate', max_rate)
        coasting = self.coasting_torque(position, velocity)
        per_rate = self._acceleration_torque(position, velocity, -velocity) - coasting
        return coasting + per_rate * braking_rate(coasting, per_rate, limits, rate)

    @property
    def can_predict(self) -> bool:
        """Whether the model's motion under a torque can be computed, see prediction.py.

        Not if the driver moves the robot by itself, with a floating base, with loops, or with so
        many joints that it would take too long.
        """
        return self.can_brake and self._loops is None and self.robot.nv <= MOST_PREDICTED

    def coasting_torque(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return the torque at which joints without friction keep their velocity, (nv,)."""
        if not self._supported:
            check_support(self.robot)
        position, velocity = _floats('q', q, self._shapes[0]), _floats('v', v, self._shapes[1])
        return self._acceleration_torque(position, velocity, np.zeros_like(velocity))

    def friction_torque(self, v: ArrayLike) -> np.ndarray:
        """Return the torque of the friction that the driver does not compensate, (nv,)."""
        velocity = _floats('v', v, self._shapes[1])
        return np.zeros_like(velocity) + self._terms.friction(velocity)

    def _acceleration_torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the torque to send for an acceleration, without friction."""
        return self._command(laws.given_acceleration, laws.gravity, q, v, MotionSample(q, v, a))

    def added_by_driver(self, q: ArrayLike) -> np.ndarray:
        """Return the torque that the driver adds to a command while the arm is at rest, (nv,)."""
        if self._driver_terms is None:
            return np.zeros(self.robot.nv)
        if not self._supported:
            check_support(self.robot)
        position = _floats('q', q, self._shapes[0])
        return self._law_torque(laws.gravity, self._driver_terms, position, None, None)

    def _command(self, law: Callable[..., np.ndarray], driver_law: Callable[..., np.ndarray],
                 q: np.ndarray, v: np.ndarray | None, motion: Any) -> np.ndarray:
        """Return the torque of a law less what the driver adds."""
        if self._loops is not None and motion is not None:
            # feedforward uses only the reference, so all of it must satisfy the loops
            motion = self._loops.with_passive_joints(q, motion, whole=law is laws.feedforward)
        with np.errstate(all='ignore'):  # what is not finite is refused below
            tau = self._law_torque(law, self._terms, q, v, motion)
            if self._driver_terms is not None:
                tau = tau - self._law_torque(driver_law, self._driver_terms, q, v, motion)
        if not all(map(math.isfinite, tau.tolist())):   # NumPy takes four times as long
            raise DynamicsError('the torque is not finite: some entry of q, v or the reference is '
                                'not, or they are too large')
        return tau

    def _law_torque(self, law: Callable[..., np.ndarray], terms: TorqueTerms, q: np.ndarray,
                    v: np.ndarray | None, motion: Any) -> np.ndarray:
        """Return the torque of a law, at the motors where there are loops."""
        tau = law(terms, q, v, motion, self._gains)
        if self._loops is None or not np.isfinite(tau).all():
            return tau
        return self._loops.motor_torques(motion.q if law is laws.feedforward else q, tau)

    def _checked(self, q: ArrayLike, v: ArrayLike, motion: Any
                 ) -> tuple[np.ndarray, np.ndarray, Any]:
        # an array of size 1 must not be broadcast to all joints
        nq, nv = self._shapes
        if self.mode == laws.TASK_SPACE:  # its motion comes from a reference that was checked
            if not isinstance(motion, TaskMotionSample):
                raise DynamicsError(f'motion is a {type(motion).__name__}; mode task_space needs a '
                                    'TaskMotionSample, see BlendedPoseSpline.at')
            return _floats('q', q, nq), _floats('v', v, nv), motion
        if not isinstance(motion, MotionSample):
            raise DynamicsError(f'motion is {shown(motion)}; expected a MotionSample, see '
                                'Reference.at')
        return _floats('q', q, nq), _floats('v', v, nv), type(motion)(
            _floats('motion.q', motion.q, nq), _floats('motion.v', motion.v, nv),
            _floats('motion.a', motion.a, nv))


def _floats(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    if type(value) is np.ndarray and value.dtype is FLOAT and value.shape == shape:
        return value
    return checks.check_floats(name, value, *shape)


def _check_task(robot: Robot, gains: object) -> None:
    if robot.loops.constraints:
        raise DynamicsError('mode task_space is for robots without loops: there the motors alone '
                            'do not span the space that a frame moves in')
    if robot.nq != robot.nv:
        raise DynamicsError('mode task_space is for robots without floating joints, which no motor '
                            'drives; mode whole_body is for them')
    if not isinstance(gains, TaskGains):
        raise DynamicsError('mode task_space needs TaskGains; see TaskGains.of')
    _check_gains('task_space', gains.posture, robot.nv)


def _check_gains(mode: str, gains: object, nv: int) -> None:
    if not isinstance(gains, Gains):
        raise DynamicsError(f'mode {mode} needs gains; see Gains.per_joint, Gains.from_frequency')
    if np.shape(gains.kp) != (nv,) or np.shape(gains.kd) != (nv,):
        raise DynamicsError(f'the gains are for {np.size(gains.kp)} joints; the robot has {nv}')
