"""How is the node? What /diagnostics says of it."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from dynamics_node.ros import convert
from dynamics_node.ros.state.measured_state import NEVER
from dynamics_node.safety import State


def diagnostics(name, desk, clerk, rate, refusals=(), torque=None, lookout=None):
    """Return the DiagnosticArray of a node: of what it serves, of its torques, of who pushes.

    :param rate: of joint states since the last time [Hz].
    :param refusals: why messages about the base are refused.
    """
    desk.catch_up()
    array = DiagnosticArray(status=[_serving(name, desk, clerk, rate, refusals)])
    if torque is not None:
        array.status.append(_torques(name, torque))
    if lookout is not None:
        array.status.append(_pushes(name, lookout, rate))
    array.header.stamp = convert.time(desk.clock())
    return array


def _serving(name, desk, clerk, rate, refusals):
    level, message = _judged(desk, refusals)
    values = {'active': clerk.active, **_model_values(desk), **_state_values(desk, rate),
              'requests answered': clerk.answered,
              'requests refused': clerk.refused}
    return _status(level, name, message, desk.robot.name if desk.held.exists else '', values)


def _torques(name, torque):
    """Return what the gate says: everything that was refused and clamped is counted."""
    status = torque.drive.gate.status()
    level = DiagnosticStatus.ERROR if status.state is State.FAULT else DiagnosticStatus.OK
    message = f'{status.state.value}: {status.reason}' if status.reason else status.state.value
    parameters = torque.drive.parameters
    values = {'mode': parameters.mode, 'driver': parameters.driver,
              'command topic': parameters.command_topic or 'none', 'released': status.released,
              'references refused': torque.refused_references,
              **{f'refused: {kind}': n for kind, n in status.refused.items()},
              **{f'limited by {which}: {joint}': n for (which, joint), n in status.limited.items()}}
    return _status(level, f'{name}: torque', message, '', values)


def _pushes(name, lookout, rate):
    """Return what the observer sees, and the largest that it saw while nobody pushed."""
    values = {'effort meaning': lookout.parameters.effort_meaning, 'contacts': lookout.contacts}
    if not lookout.on:
        return _status(DiagnosticStatus.OK, f'{name}: contact', f'off: {lookout.reason}', '',
                       values)
    names, flag = lookout.observer.robot.dof_names, lookout.flag
    pushed = ', '.join(name for name, on in zip(names, flag.joints) if on)
    for what, numbers in (('external', lookout.observer.torque), ('free peak', lookout.peaks)):
        values.update({f'{what}: {name}': f'{x:.3g}' for name, x in zip(names, numbers)})
    reason = lookout.reason or ('' if rate else 'no joint states come: it sees nothing')
    if reason:
        return _status(DiagnosticStatus.WARN, f'{name}: contact', reason, '', values)
    return _status(DiagnosticStatus.OK, f'{name}: contact',
                   f'contact: {pushed}' if flag.contact else 'no contact', '', values)


def _status(level, name, message, hardware_id, values):
    return DiagnosticStatus(
        level=level, name=name, message=message, hardware_id=hardware_id,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])


def _judged(desk, refusals):
    """Return the level and a sentence."""
    if not desk.held.exists:
        return DiagnosticStatus.ERROR, desk.held.refusal or 'no robot description yet'
    if desk.held.refusal:
        return DiagnosticStatus.ERROR, f'{desk.held.refusal}; the one before it is still held'
    if refusals:
        return DiagnosticStatus.WARN, '; '.join(refusals)
    missing = desk.state.never_measured
    if missing:
        return DiagnosticStatus.WARN, f'never measured: {", ".join(missing)}'
    return DiagnosticStatus.OK, 'serving'


def _model_values(desk):
    if not desk.held.exists:
        return {}
    robot = desk.robot
    return {'robot': robot.name, 'model_id': desk.held.model_id, 'joints': len(robot.joint_names),
            'total mass [kg]': f'{robot.total_mass:.6g}', 'compiled': robot.compiled,
            'payloads': ', '.join(desk.held.payloads) or 'none'}


def _state_values(desk, rate):
    if not desk.held.exists:
        return {}
    known = desk.state.stamps[desk.state.stamps != NEVER]
    age = f'{(desk.clock() - int(known.min())) * 1e-9:.3f}' if known.size else 'never measured'
    return {'joint states [Hz]': f'{rate:.1f}', 'oldest joint state [s]': age,
            **{f'joint states, {reason}': n for reason, n in desk.state.counts.items()}}
