"""Compose the message on /diagnostics: serving, torques, contact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from dynamics_node.ros import convert
from dynamics_node.ros.health import health
from dynamics_node.ros.long_requests.request_pool import LIMITS, RequestPool
from dynamics_node.ros.node_state import NodeState
from dynamics_node.ros.parameters.declared import NodeParameters
from dynamics_node.ros.parameters.observer import ObserverParameters
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.services.runner import ServiceRunner
from dynamics_node.ros.state.measured_state import NEVER
from dynamics_node.ros.torque.records import ContactStatus, TorqueStatus
from dynamics_node.ros.torque.supervisor import TorqueSupervisor
from dynamics_node.safety import State


def diagnostics(name: str, node_state: NodeState, runner: ServiceRunner,
                pool: RequestPool | None, rate: float,
                refusals: Sequence[str] = (), torque: TorqueSupervisor | None = None,
                parameters: NodeParameters | None = None,
                misfits: Sequence[str] = ()) -> DiagnosticArray:
    """Return the diagnostics of a node: serving, torques, contact.

    :param pool: pool of long requests; None while the node is being configured.
    :param rate: rate of joint states since the last diagnostics [Hz].
    :param refusals: why messages with the state of the base were refused.
    :param misfits: why some parameters do not fit the robot.
    """
    node_state.catch_up()
    array = DiagnosticArray(status=[_serving_status(name, node_state, runner, pool, rate,
                                                    refusals)])
    # REP 107: the hardware that a status is about; here all are about the robot.
    robot_name = node_state.robot.name if node_state.current_robot.exists else ''
    status = torque.status if torque is not None else None
    if torque is not None and status is not None and parameters is not None:
        array.status.append(_torque_status(name, torque, status, parameters.torque,
                                           misfits))
        array.status.append(_contact_status(name, status.contact, parameters.observer, rate))
    for each in array.status:
        each.hardware_id = robot_name
    array.header.stamp = convert.time(node_state.clock())
    return array


def _serving_status(name: str, node_state: NodeState, runner: ServiceRunner,
                    pool: RequestPool | None, rate: float,
                    refusals: Sequence[str]) -> DiagnosticStatus:
    found = health(node_state, refusals)
    values = {'active': runner.active, **_model_values(node_state),
              **_state_values(node_state, rate),
              'requests served': runner.served,
              'requests refused': runner.refused,
              **{f'refused by {cap}': n for cap, n in runner.refused_by.items()},
              **_pool_values(pool)}
    return _status(bytes([found.level]), name, found.message, values)


def _torque_status(name: str, torque: TorqueSupervisor, process: TorqueStatus,
                   parameters: TorqueParameters, misfits: Sequence[str]) -> DiagnosticStatus:
    """Return the status of the torques: state of the gate, counts of refusals and limits."""
    status = process.gate
    wrong = torque.failure or status.state is State.FAULT
    level = (DiagnosticStatus.ERROR if wrong else
             DiagnosticStatus.WARN if torque.watchdog_failure or misfits else DiagnosticStatus.OK)
    message = ': '.join(filter(None, [status.state.value, status.reason or '; '.join(misfits)]))
    values = {'mode': parameters.mode, 'driver': parameters.driver,
              'command topic': parameters.command_topic or 'none', 'released': status.released,
              'kernels': process.kernels or 'ready', 'process': torque.failure or torque.pid,
              'watchdog': torque.watchdog_failure or torque.watchdog_pid,
              'real time': process.realtime,
              'joint states lost by services': torque.lost_joint_states,
              'references refused': process.refused_references,
              'last refused reference': process.last_refusal or 'none',
              'silences of joint states bridged': status.bridged,
              **{f'refused: {kind}': n for kind, n in status.refused.items()},
              **{f'limited by {which}: {joint}': n for (which, joint), n in status.limited.items()}}
    return _status(level, f'{name}: torque', message, values)


def _contact_status(name: str, contact: ContactStatus, parameters: ObserverParameters,
                    rate: float) -> DiagnosticStatus:
    """Return the status of the contact: external torques, and the largest ones without contact."""
    values: dict[str, Any] = {'effort meaning': parameters.effort_meaning,
                              'contacts': contact.contacts}
    if not contact.on:
        return _status(DiagnosticStatus.OK, f'{name}: contact', f'off: {contact.reason}',
                       values)
    for what, numbers in (('external', contact.torque), ('free peak', contact.peaks)):
        values.update({f'{what}: {name}': f'{x:.3g}' for name, x in numbers.items()})
    reason = contact.reason or ('' if rate else 'no joint states are received')
    if reason:
        return _status(DiagnosticStatus.WARN, f'{name}: contact', reason, values)
    return _status(DiagnosticStatus.OK, f'{name}: contact',
                   f'contact: {", ".join(contact.joints)}' if contact.contact else 'no contact',
                   values)


def _status(level: bytes, name: str, message: str,
            values: Mapping[str, Any]) -> DiagnosticStatus:
    return DiagnosticStatus(
        level=level, name=name, message=message,
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()])


def _model_values(node_state: NodeState) -> dict[str, Any]:
    current = node_state.current_robot
    if not current.exists:
        return {}
    robot = current.robot
    return {'robot': robot.name, 'model_id': current.model_id, 'joints': len(robot.joint_names),
            'total mass [kg]': f'{robot.total_mass:.6g}', 'compiled': robot.compiled,
            'payloads': ', '.join(current.payloads) or 'none'}


def _pool_values(pool: RequestPool | None) -> dict[str, Any]:
    if pool is None:
        return {}
    return {'long requests waiting': pool.waiting, 'long requests running': pool.running,
            'long requests, longest wait [s]': f'{pool.longest_wait:.3f}',
            'worker processes': pool.workers,
            **{f'refused by service.{name}': pool.refused[name] for name in LIMITS}}


def _state_values(node_state: NodeState, rate: float) -> dict[str, Any]:
    state = node_state.measured_state
    if state is None:
        return {}
    known = state.stamps[state.stamps != NEVER]
    age = (f'{node_state.age_limit.age(int(known.min())):.3f}' if known.size
           else 'never measured')
    return {'joint states [Hz]': f'{rate:.1f}', 'oldest joint state [s]': age,
            **{f'joint states, {reason}': n for reason, n in state.counts.items()}}
