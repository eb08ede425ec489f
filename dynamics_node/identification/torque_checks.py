"""Check units and conventions of the torques of a recording, joint by joint.

Each joint is judged by what the URDF, whose bodies may be wrong by some ten percent, and free
friction can and cannot explain: see torque_factors.py and joint_conventions.py.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.joint_conventions import other_convention, without_joint_part
from dynamics_node.identification.loop_equations import project
from dynamics_node.identification.motion_unit_checks import CORRELATED, named_unit, slope_of
from dynamics_node.identification.recording import Recording, without_springs
from dynamics_node.identification.torque_factors import TorqueRow, torque_rows
from dynamics_node.robot.robot import Robot

TORQUES = (('mN m', 1e3), ('N cm', 1e2), ('kN m', 1e-3), ('kgf m', 1.0 / 9.80665),
           ('kgf cm', 100.0 / 9.80665), ('lbf in', 8.8507), ('ozf in', 141.61))
PLAUSIBLE = 3.0       # a smaller factor may be due to the URDF
IMPOSSIBLE = 10.0     # a greater factor of all joints is not due to the URDF
NEAR = 2.0            # ratio to the factor of a unit that is named: payloads and URDFs differ
NO_GRAVITY = 0.2      # of the gravity torque of the model: with less, it is compensated
RELEVANT = 0.05       # of the other part of the torque: a smaller part is not judged
SAMPLES = 400         # at least, that are compared
PER_PARAMETER = 3     # samples, if these are more
TINY = float(np.finfo(float).tiny)


def check_torques(robot: Robot, recording: Recording,
                  loops: LoopMotion | None = None) -> Iterator[str]:
    """Yield warnings about the torques; refuse units and conventions that are not those expected.

    :param loops: LoopMotion of a robot with loops.
    :raise DynamicsError: names the joints, and the unit or convention that they seem to have.
    """
    count = max(SAMPLES, PER_PARAMETER * 10 * len(robot.model.bodies))
    recording = recording.rows(slice(None, None, max(1, len(recording.time) // count)))
    _check_gravity(robot, recording, loops)
    rigid = without_springs(robot, recording) if loops is None else recording
    rows = torque_rows(robot, rigid, loops)
    slope, correlation = slope_of(*(np.concatenate([getattr(row, name) for row in rows])
                                    for name in ('tau', 'rigid')))
    if correlation < -CORRELATED:
        raise DynamicsError(f'measured torques are {slope:.3g} times those of the URDF: the sign '
                            'is that of the load. Record the torque of the motor on the joint')
    other = other_convention(robot, recording, np.array([row.judged for row in rows]), loops)
    if other:
        raise DynamicsError(f'{other}. With that, the measured torques agree with the URDF')
    _check_factors(rows)
    if correlation > CORRELATED and not 1.0 / PLAUSIBLE < slope < PLAUSIBLE:
        text = f'measured torques are {slope:.3g} times those of the URDF ({_factors(rows)})'
        if named_unit(slope, TORQUES, NEAR) or not 1.0 / IMPOSSIBLE < slope < IMPOSSIBLE:
            raise DynamicsError(f'{text}: {_unit(slope)}')
        yield (f'{text}: are the masses of the URDF that wrong? Torques before the gear or '
               'currents look the same')
        return
    doubtful = [row for row in rows if _is_wrong(row, sigmas=1.0)]
    if doubtful:
        yield ('measured torques without friction are these times those of the links of the URDF: '
               f'{_factors(doubtful)}. Are they in N m, or its masses that wrong?')


def _check_factors(rows: Sequence[TorqueRow]) -> None:
    """Refuse factors that neither errors of the URDF nor friction explain."""
    wrong = [row for row in rows if _is_wrong(row)]
    if wrong:
        factors = [row.likely_factor() for row in wrong]
        best = min(factors, key=lambda f: f.sigma / f.value)
        sizes = [f.value for f in factors]
        raise DynamicsError(
            'measured torques without friction, divided by those of the links of the URDF, are '
            f'{_factors(wrong)}: {_unit(best.value, max(sizes) / min(sizes))}')
    strange = [row.name for row in rows if _is_absent(row)]
    if strange:
        raise DynamicsError(
            f'the effort of {strange} does not contain the torque that their links need: check '
            'that it is the torque of that joint, and the names, units and zeros of all joints')


def _is_wrong(row: TorqueRow, sigmas: float = 2.0) -> bool:
    """Return whether the factor of a joint is that of a unit: positive, and far from 1.

    :param sigmas: standard deviations of the factor between it and a plausible one.
    """
    found = row.likely_factor()
    if found.value > 1.0 and not row.judged:   # a link or load that the URDF lacks
        return False
    return (found.value > 0.0 and abs(np.log(found.value)) - sigmas * found.sigma / found.value
            > np.log(PLAUSIBLE))


def _is_absent(row: TorqueRow) -> bool:
    """Return whether even the least plausible part of the torque of the URDF is not there."""
    found = row.factor(1.0 / PLAUSIBLE)
    return abs(found.value) + 2.0 * found.sigma < 1.0 / PLAUSIBLE


def _factors(rows: list[TorqueRow] | Sequence[TorqueRow]) -> str:
    return ', '.join(f'{row.name} {row.likely_factor().value:.3g}' for row in rows)


def _unit(factor: float, spread: float = 1.0) -> str:
    """Return the unit that a factor is that of, and what is expected.

    :param spread: ratio of the greatest factor of a joint to the least: a unit has only one.
    """
    unit = named_unit(factor, TORQUES, NEAR)
    if unit and spread < NEAR and factor > 1.0:
        return f'they seem to be in {unit}; expected N m (N for a prismatic joint)'
    # with 10 N m/A a current in A has about the value of the torque in kgf m
    return (f'they seem to be {f"in {unit}, or " if unit else ""}currents, torques before the '
            'gear, or shares of the rated torque; expected N m (N for a prismatic joint). Multiply '
            'each joint by its constant (torque constant x gear ratio)')


def _check_gravity(robot: Robot, recording: Recording, loops: LoopMotion | None) -> None:
    """Refuse torques without gravity: the driver compensates it and reports the rest.

    tau = s_g gravity + s_d rest + joint parameters of each joint, by least squares.
    """
    gravity = project(loops, recording.q, robot.gravity_torque(recording.q))
    rest = project(loops, recording.q, robot.inverse_dynamics(
        recording.q, recording.v, recording.a)) - gravity
    rows = np.arange(robot.nv) if loops is None else loops.independent
    driven = recording.with_effort if loops is None else np.flatnonzero(loops.active[rows])
    tau, gravity, rest = (np.concatenate([
        without_joint_part(x[:, k], recording.v[:, at], recording.a[:, at],
                           robot.model.friction_speed) for k, at in zip(driven, rows[driven])])
        for x in (recording.tau[:, rows], gravity, rest))
    heavy, lively = np.linalg.norm(gravity), np.linalg.norm(rest)
    if heavy < RELEVANT * lively or lively < RELEVANT * heavy:
        return
    A = np.column_stack([gravity, rest])
    found = np.linalg.lstsq(A, tau, rcond=None)[0]
    explained = 1.0 - np.sum((tau - A @ found) ** 2) / max(np.sum(tau ** 2), TINY)
    if abs(found[0]) < NO_GRAVITY * abs(found[1]) and explained > CORRELATED ** 2:
        raise DynamicsError(
            f'measured torques have {abs(found[0] / found[1]):.0%} of the gravity torque: the '
            'drive subtracts it. Add it again, or identify the robot with gravity (0, 0, 0)')
