"""Identify the inertial and friction parameters of a robot from a Recording."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import check_callable, check_kind, choice, flag, positive, whole
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.identification.consistent_fit import Optimality, consistent_fit, parameter_prior
from dynamics_node.identification.coupling_checks import coupling_warnings
from dynamics_node.identification.cross_validation import CrossValidation, cross_validate
from dynamics_node.identification.decimation import rows_left
from dynamics_node.identification.drift_checks import drift_warnings
from dynamics_node.identification.fitted_layout import fitted_layout
from dynamics_node.identification.friction_choice import AUTO, friction_terms
from dynamics_node.identification.identifiable_parameters import BaseParameters, base_parameters
from dynamics_node.identification.linear_fit import LOSSES, METHODS, condition_number, linear_fit
from dynamics_node.identification.loop_equations import has_loops, loop_torques
from dynamics_node.identification.loop_recording import complete_recording, is_whole
from dynamics_node.identification.loop_summary import LoopSummary, loop_summary
from dynamics_node.identification.missing_motion import missing_motion
from dynamics_node.identification.motion_proposal import MotionProposal, propose_motions
from dynamics_node.identification.noise import Noise
from dynamics_node.identification.parameters import (
    ParameterLayout,
    applied_values,
    lacking_torque,
    offset_torque,
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.recording import Recording, select_joints, without_springs
from dynamics_node.identification.speed_uncertainty import speed_factors
from dynamics_node.identification.transmission import Transmission
from dynamics_node.identification.uncertainty import Spread, base_spread, full_spread
from dynamics_node.identification.validation import Residuals, compare, split
from dynamics_node.identification.verdict import Verdict, judge, total_share
from dynamics_node.robot.arguments import check_robot
from dynamics_node.robot.robot import Robot

TORQUES_PER_UNKNOWN = 5   # with fewer, residuals do not show the noise
POOR_CONDITION = 300.0    # condition number above which the excitation is too small
MIN_OPTION, MAX_OPTION = 1e-9, 1e9   # of a weight or a speed
MOTOR_SHARE = 0.05        # of the torque: a greater error without coupled motors is a warning
MASSES = 0.5              # relative standard deviation of the masses of a URDF
CHOICE = 0.2              # of the work: the law of friction
CONSTANT = 1e-9           # [rad or m, N m or N]: smaller changes count as none


class IdentificationOptions(NamedTuple):
    """Options of an identification."""

    method: str = 'weighted'       # ordinary, weighted or robust: see linear_fit.py
    loss: str = 'huber'            # of the robust method: huber or bisquare
    prior_weight: float = 1.0      # 1 trusts the inertias of the URDF to within 100 %, 100 to 10 %
    validation_share: float = 0.2  # of the samples, at the end: not fitted
    decimation: int = 1            # greatest factor for torques and regressors; less if too few
    #                                rows were left
    stribeck_speed: float | None = None   # of Stribeck friction, which is added [rad/s or m/s]
    transmission: Transmission | None = None   # adds friction and armature of coupled motors
    friction: str = AUTO           # its law is chosen from the data; plain: viscous and Coulomb; or
    #                                terms: stribeck, asymmetric, load, with commas between them


class Identification(NamedTuple):
    """An identified robot, and how well its parameters are determined."""

    robot: Robot                  # as identified: every link is physically consistent; coupled
    #                               motors as in `parameters.applied_values`
    layout: ParameterLayout       # of the vectors below: names, units
    values: np.ndarray            # (size,) parameters
    before: np.ndarray            # (size,) of the robot before
    spread: Spread                # of values
    base: BaseParameters          # combinations that torques depend on
    base_values: np.ndarray       # (b,)
    base_spread: Spread           # of base_values, from the data alone
    base_covariance: np.ndarray   # (b, b)
    noise: Noise                  # of the torque of each row
    residuals: Residuals          # before and after, of the fitted and of the validation samples;
    #                               with coupled motors as `robot` has them
    condition: float              # condition number of the regressor, columns scaled to norm 1
    optimality: Optimality        # proof that no consistent parameters fit better
    warnings: tuple[str, ...]
    options: IdentificationOptions
    crossed: CrossValidation      # parts of the recording, predicted by the others
    loops: LoopSummary | None = None   # of a robot with loops: the equations that were used
    friction: str = ''            # the law of friction, and what it gained
    proposal: MotionProposal = MotionProposal((), ())   # that determine what the data do not

    @property
    def rows(self) -> tuple[str, ...]:
        """Joints of noise and residuals: those with an effort; with loops the independent ones."""
        if self.loops is not None:
            return self.loops.rows
        return tuple(np.array(self.robot.joint_names)[self.base.rows].tolist())

    @property
    def verdict(self) -> Verdict:
        """The torque error on held-out samples, and the reasons not to use the parameters."""
        return judge(self.rows, self.residuals, self.layout, self.before, self.values, self.spread,
                     self.crossed)

    @property
    def missing_motion(self) -> str:
        """What to record so that the data determine all base parameters; '' if they do."""
        return '; '.join(filter(None, [*map(str, self.proposal.motions),
                                       missing_motion(self.robot.model, self.proposal.rest)]))

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike,
                coupled_motors: bool = True) -> np.ndarray:
        """Return the torque of a motion: inverse dynamics, offsets, and what `robot` lacks.

        With loops: the torque of the independent joints, zero at the others; with as many motors as
        degrees of freedom it is that of the motors. The motion of dependent joints is corrected to
        satisfy the loop constraints.

        :param coupled_motors: False: without what `robot` lacks of them and of friction in
            proportion to the load, as in `residuals`.
        """
        complete = flag('coupled_motors', coupled_motors) and self.layout.approximated

        def torque(q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
            v, a = np.asarray(v, dtype=float), np.asarray(a, dtype=float)
            layout = self.layout
            torque = (self.robot.inverse_dynamics(q, v, a)
                      + offset_torque(layout, self.values, v))
            if not complete:
                return torque
            return torque + lacking_torque(
                self.robot, layout, self.values, *map(np.atleast_2d, (q, v, a))).reshape(v.shape)

        if self.base.loops is None:
            return torque(q, v, a)
        return loop_torques(self.base.loops, torque, q, v, a)


def identify(robot: Robot, recording: Recording, options: IdentificationOptions | None = None,
             progress: Callable[[float, str], None] | None = None,
             on_fit: Callable[[float, float], None] | None = None,
             validation: Recording | None = None) -> Identification:
    """Return the Identification of a robot from a Recording.

    :param robot: as known before. Its payloads are known and kept; its bodies are identified.
    :param progress: f(share, text), called often; an exception from it ends the identification.
    :param on_fit: f(condition number, RMS of the torque residual [N m or N]), called after the
        linear fit, before the slow part.
    :param validation: a recording that is not fitted; None: the end of `recording`.
    :raise DynamicsError: the reason why the recording is useless, and what to record instead; or
        the fit did not converge.
    """
    check_robot(robot)
    options = _checked(IdentificationOptions() if options is None else
                       check_kind('options', options, IdentificationOptions))
    check_callable('progress', progress)
    check_callable('on_fit', on_fit)
    report = progress or (lambda share, text: None)
    recording, loops, notes = _arranged(robot, recording)
    recording = _without_springs(robot, recording, loops)
    base = base_parameters(robot, parameter_layout(robot, None, options.transmission), loops=loops,
                           measured=recording.with_effort)
    train, held_out = split(recording, options.validation_share)
    if validation is not None:
        train, held_out = recording, _without_springs(robot, _arranged(robot, validation)[0], loops)
        _refuse_missing(recording, held_out)
    factor = _decimation(base, train, held_out, options)
    choosing = 'choosing the law of friction'
    report(0.0, choosing)
    layout, friction = fitted_layout(robot, base, train, options.friction, options.stribeck_speed,
                                     options.transmission, options.prior_weight, factor,
                                     lambda share: report(CHOICE * share, choosing))
    if layout.laws != base.layout.laws or layout.load is not None:
        base = base_parameters(robot, layout, loops=loops, measured=recording.with_effort)

    known = parameter_values(robot, layout)
    prior = parameter_prior(layout, known, train, options.prior_weight, loops, MASSES)
    linear = linear_fit(
        robot, base, train, base.values(prior.values), options.method, options.loss, factor,
        lambda share, text: report(CHOICE + (0.6 - CHOICE) * share, text))
    condition = condition_number(linear.problem.R)
    if on_fit is not None:
        on_fit(condition, float(np.sqrt(np.mean(linear.noise.sigma ** 2))))
    crossed = cross_validate(base, linear, prior)
    linear = linear.with_noise(crossed.factor)
    found = consistent_fit(base, linear.problem, prior,
                           lambda: report(0.6, 'fitting physically consistent links'))
    found.values[layout.known] = known[layout.known]   # not only within rounding
    covariance, of_base = base_spread(base, linear, prior)
    residuals = compare(robot, base, train, held_out, applied_values(layout, found.values),
                        lambda share: report(0.7 + 0.3 * share, 'comparing before and after'))
    lacking = _motor_warnings(residuals, compare(
        robot, base, train, held_out, found.values), layout) if layout.approximated else ()
    return Identification(
        robot_with_parameters(robot, layout, found.values), layout, found.values, known,
        full_spread(found, prior, speed_factors(layout, found.values, train)), base,
        base.values(found.values), of_base, covariance, linear.noise, residuals, condition,
        found.optimality,
        (*notes, *_warnings(base, of_base, condition, residuals, crossed), *lacking,
         *coupling_warnings(robot, base, train, linear.values),
         *drift_warnings(robot, base, train, linear.values)), options, crossed,
        None if loops is None else loop_summary(robot, base), friction,
        propose_motions(robot, base, linear, of_base, train, factor, crossed.factor))


def _without_springs(robot: Robot, recording: Recording, loops: LoopMotion | None) -> Recording:
    """Return the recording without the torques of springs, which are known."""
    if robot.springs and loops is not None:
        raise DynamicsError('identification of a robot with loops and springs is not available; '
                            'expected a robot without springs or without loops')
    return without_springs(robot, recording)


# Argument checks --------------------------------------------------------------------------------

def _checked(options: IdentificationOptions) -> IdentificationOptions:
    choice('method', options.method, METHODS)
    choice('loss', options.loss, LOSSES)
    _within('prior_weight', options.prior_weight)
    if not 0.0 < positive('validation_share', options.validation_share) < 1.0:
        raise DynamicsError(f'validation_share is {shown(options.validation_share)}; expected a '
                            'number between 0 and 1: the share of the samples for validation')
    whole('decimation', options.decimation, 1)
    if options.stribeck_speed is not None:
        _within('stribeck_speed', options.stribeck_speed)
        options = options._replace(stribeck_speed=float(options.stribeck_speed))
    if options.transmission is not None:
        check_kind('transmission', options.transmission, Transmission)
    friction_terms(options.friction)
    return options


def _within(name: str, value: float) -> None:
    if not MIN_OPTION <= positive(name, value) <= MAX_OPTION:
        raise DynamicsError(f'{name} is {value:g}; expected {MIN_OPTION:g} to {MAX_OPTION:g}')


def _arranged(robot: Robot, recording: Recording
              ) -> tuple[Recording, LoopMotion | None, tuple[str, ...]]:
    """Return (recording of all joints in the order of the robot, LoopMotion, warnings)."""
    recording = checked(robot, recording)
    if not has_loops(robot):
        _refuse_still(recording.joint_names, recording.q, recording.tau,
                      np.isin(recording.joint_names, recording.no_effort, invert=True))
        return recording, None, ()
    recording, _, loops, warnings = complete_recording(robot, recording)
    tau = recording.tau[:, loops.independent]
    _refuse_still(loops.names, recording.q[:, loops.q_indices], tau,
                  loops.active[loops.independent])
    return recording, loops, warnings


def checked(robot: Robot, recording: Recording) -> Recording:
    """Return the recording with only the joints of the robot, in its order; or refuse it.

    With loops some joints may be missing, see `loop_recording.complete_recording`.
    """
    if not isinstance(recording, Recording):
        raise DynamicsError(f'recording is {type(recording).__name__}; expected a Recording: '
                            'see prepare')
    whole = is_whole(robot, recording)
    shape = len(recording.time), robot.nv if whole else len(recording.joint_names)
    for name in ('q', 'v', 'a', 'tau'):
        expected = (shape[0], robot.nq) if whole and name == 'q' else shape
        if np.shape(getattr(recording, name)) != expected:
            raise DynamicsError(f'{name} of the recording has shape '
                                f'{np.shape(getattr(recording, name))}; expected {expected}')
    if not whole:
        recording = _in_order(robot, recording)
    for name in ('q', 'v', 'a', 'tau'):
        bad = ~np.isfinite(getattr(recording, name))
        if bad.any():
            row, column = np.argwhere(bad)[0]
            of = f'column {column}' if whole else f'joint {shown(recording.joint_names[column])}'
            raise DynamicsError(f'{name} of {of} is NaN at sample {row}; `prepare` leaves such '
                                'samples out')
    return recording


def _in_order(robot: Robot, recording: Recording) -> Recording:
    ordered = select_joints(robot, recording)
    columns = [recording.joint_names.index(name) for name in ordered.joint_names]
    q, v, a = (np.ascontiguousarray(array[:, columns], dtype=float)
               for array in (recording.q, recording.v, recording.a))
    return recording._replace(joint_names=ordered.joint_names, q=q, v=v, a=a,
                              tau=np.ascontiguousarray(ordered.tau, dtype=float))


def _refuse_still(names: Sequence[str], q: np.ndarray, tau: np.ndarray,
                  driven: np.ndarray | bool = True) -> None:
    """Refuse joints that do not move, or are `driven` and have a constant torque."""
    for still, what in ((np.ptp(q, axis=0) < CONSTANT, 'does not move'),
                        ((np.ptp(tau, axis=0) < CONSTANT) & driven, 'has a constant torque')):
        still = [name for name, is_still in zip(names, still) if is_still]
        if still:
            raise DynamicsError(f'{", ".join(still)} {what} in the recording: nothing can be '
                                'identified of it. Record a motion of every joint with its '
                                'measured torque, or lock the joint when the URDF is read')


def _refuse_missing(recording: Recording, validation: Recording) -> None:
    missing = [name for name in validation.no_effort if name not in recording.no_effort]
    if missing:
        raise DynamicsError(f'the validation has no effort of {", ".join(missing)}; expected those '
                            'of the recording that is fitted')


def _decimation(base: BaseParameters, train: Recording, validation: Recording,
                options: IdentificationOptions) -> int:
    """Return the decimation that leaves enough rows; refuse a recording with too few samples."""
    needed = TORQUES_PER_UNKNOWN * int(base.depends.sum(axis=1).max())
    if len(train.time) < needed or not len(validation.time):
        total = int(needed / (1.0 - options.validation_share)) + 1
        raise DynamicsError(
            f'the recording has {len(train.time) + len(validation.time)} samples, too few for '
            f'{base.size} unknown parameters; record at least {total}')
    most = min(options.decimation, len(train.time) // needed)
    return next((factor for factor in range(most, 1, -1)
                 if rows_left(train.time, factor) >= needed), 1)


def _warnings(base: BaseParameters, spread: Spread, condition: float, residuals: Residuals,
              crossed: CrossValidation) -> tuple[str, ...]:
    texts = []
    if crossed.factor > 1.0:
        texts.append('parts of the recording, predicted by fits to its other parts, have greater '
                     'errors than residuals show: the recording is short, or the model lacks '
                     f'something. Standard deviations of the data are {crossed.factor:.3g} times '
                     'greater, and the URDF counts more. Record a longer and more varied motion')
    if condition > POOR_CONDITION:
        texts.append(f'the motion excites the robot poorly: condition number {condition:.3g}, '
                     f'good ones are below {POOR_CONDITION:g}. Record an excitation trajectory')
    undetermined = [name for name, determined in zip(base.names, spread.determined)
                    if not determined]
    if undetermined:
        texts.append(f'the data hardly determine {len(undetermined)} of {base.size} base '
                     f'parameters, which stay near the URDF: {", ".join(undetermined)}')
    if residuals.gain < 1.0:
        factor = f', by a factor of {1.0 / residuals.gain:.3g}' if residuals.gain > 0.0 else ''
        texts.append('on the validation samples the new parameters predict torques worse than the '
                     f'old ones{factor}: do not use them')
    return tuple(texts)


def _motor_warnings(applied: Residuals, complete: Residuals, layout: ParameterLayout
                    ) -> Iterator[str]:
    """Warn if torques of coupled motors or loads that the model of a Robot lacks are large.

    :param applied, complete: Residuals without and with these torques.
    """
    without, complete_share = (total_share(each.validation_after, each.validation_torque)
                               for each in (applied, complete))
    if without > complete_share + MOTOR_SHARE:
        motors = ', '.join(motor.name for motor in layout.motors)
        lacks = [f'friction and rotor inertia of the coupled motors ({motors}) are added to those '
                 'of their joints'] if layout.motors else []
        lacks += ['friction in proportion to the load is taken at the mean load'
                  ] if layout.load else []
        yield (f'the model of the node is simpler than the fit: {"; ".join(lacks)}. Its error on '
               f'held-out samples is {without:.1%} of the torque; that of the fit, which `predict` '
               f'uses, is {complete_share:.1%}')
