"""List the events that an arm under torque may meet: what happens, in which mode and motion."""

from collections.abc import Callable
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from event_rig import MS, Rig

from dynamics_node.parameter import PerJoint

REST, HALF, BRAKED = 'at rest', 'half speed', 'enable'
BOTH = (REST, HALF)
MODES = ('gravity', 'feedforward', 'computed_torque', 'impedance', 'impedance_with_bias',
         'task_space')
PAUSES = (20, 50, 70, 100, 200, 500)   # [ms]
# [N, s] downwards, at the tool. In mode gravity it alone turns joint 6 of the bundled arm, without
# friction as here, beyond 1.2 times its velocity limit.
PUSH, PUSH_TIME = 10.0, 0.05
OTHER_ARM = '<robot name="other"><link name="base"/><link name="tip"><inertial><mass value="1"/>' \
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>' \
    '<joint name="other_joint" type="revolute"><parent link="base"/><child link="tip"/>' \
    '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'


class Event(NamedTuple):
    """An event, and the conditions under which it happens.

    At rest the mode is gravity, at half speed computed_torque, unless `mode` names another one.
    """

    group: str
    name: str
    happen: Callable[[Rig], Any]            # called at the time of the event
    motions: tuple[str, ...] = BOTH
    mode: str = ''
    rate: int = 500                         # of joint states [Hz]
    torque: dict = {}                       # parameters beside the defaults
    safety: dict = {}
    table: bool = False                     # whether a table is in the way of the tool
    stops: bool = False                     # whether the arm should stop at once


def events():
    """Return all Events."""
    return [*pauses(), *clock_steps(), *joint_states(), *descriptions(), *changes(), *settings(),
            *disables(), *enables(), *processes(), *contacts()]


def pauses():
    for rate in (500, 100):
        for pause in PAUSES:
            yield Event('pause', f'no joint states for {pause} ms, {rate} Hz', _pause(pause),
                        rate=rate)


def _pause(ms):
    def happen(rig):
        rig.silent = True
        rig.after(ms, lambda: setattr(rig, 'silent', False))
    return happen


def clock_steps():
    for ms in (-3_600_000, -1000, -100, -10, 10, 60, 300, 3_600_000):
        yield Event('clock', f'clock of the machine steps by {ms:+,} ms',
                    lambda rig, ms=ms: _shift(rig, 'clock_offset', ms))
    for ms in (-60, 60):
        yield Event('clock', f'clock of the driver steps by {ms:+} ms',
                    lambda rig, ms=ms: _shift(rig, 'stamp_offset', ms))


def _shift(rig, name, ms):
    setattr(rig, name, getattr(rig, name) + ms * MS)


def joint_states():
    yield Event('state', 'one joint state has a position off by 0.5 rad', _once(
        lambda q, v, effort: (q + 0.5 * (np.arange(len(q)) == 1), v, effort)))
    yield Event('state', 'one joint state has a velocity off by 3 rad/s', _once(
        lambda q, v, effort: (q, v + 3.0 * (np.arange(len(q)) == 1), effort)))
    yield Event('state', 'one joint state is not a number', _once(
        lambda q, v, effort: (np.full(len(q), np.nan), v, effort)))
    yield Event('state', 'one encoder stands still from now on', _frozen_encoder)


def _once(change):
    """Return an event that changes one joint state."""
    def happen(rig):
        before = rig.spoil

        def spoil(q, v, effort):
            rig.spoil = before
            return change(q, v, effort)
        rig.spoil = spoil
    return happen


def _frozen_encoder(rig):
    stuck = rig.arm.q[1]

    def spoil(q, v, effort):
        q[1], v[1] = stuck, 0.0
        return q, v, effort
    rig.spoil = spoil


def descriptions():
    yield Event('description', 'the same robot description again',
                lambda rig: rig.load(rig.subject.text))
    yield Event('description', 'a description with 2 % heavier links',
                lambda rig: rig.load(_heavier(rig.subject.text, 1.02)))
    yield Event('description', 'the description of another robot', lambda rig: rig.load(OTHER_ARM))
    yield Event('description', 'a description that is no URDF', lambda rig: rig.load('<robot'))


def _heavier(text, factor):
    root = ElementTree.fromstring(text)
    for mass in root.iter('mass'):
        mass.set('value', repr(factor * float(mass.get('value'))))
    return ElementTree.tostring(root, encoding='unicode')


def changes():
    """Changes of parameters while torques are enabled."""
    for name, value in (('gravity_scale', 0.0), ('gravity_scale', 2.0), ('frequency', 1000.0),
                        ('frequency', 0.0)):
        yield Event('parameter', f'torque.{name}: {value:g}',
                    lambda rig, name=name, value=value: rig.set_parameters(
                        torque={name: PerJoint(value)}),
                    (REST, HALF) if name == 'gravity_scale' else (HALF,))
    yield Event('parameter', 'torque.kd: 1e5 in mode impedance', lambda rig: rig.set_parameters(
        torque={'kd': PerJoint(1e5)}), (HALF,), 'impedance')
    yield Event('parameter', 'torque.mode: impedance', lambda rig: rig.set_parameters(
        torque={'mode': 'impedance', 'gains': 'kp_kd'}))
    yield Event('parameter', 'safety.safe_action: zero', lambda rig: rig.set_parameters(
        safety={'safe_action': 'zero'}))
    yield Event('parameter', 'gravity: [0, 0, 9.81]', lambda rig: rig.set_parameters(
        node={'gravity': (0.0, 0.0, 9.81)}))


def settings():
    """Services that change the model while torques are enabled."""
    from geometry_msgs.msg import Vector3, Vector3Stamped
    for mass in (5.0, 1e6):
        yield Event('service', f'set_payload: {mass:g} kg that are not there',
                    lambda rig, mass=mass: _payload(rig, mass))
    yield Event('service', 'set_gravity: upside down', lambda rig: rig.call(
        'set_gravity', gravity=Vector3Stamped(vector=Vector3(z=9.81))))
    yield Event('service', 'set_friction: 1000 N m', lambda rig: rig.call(
        'set_friction', joint_names=list(rig.arm.joint_names), friction=[1000.0] * rig.arm.n))


def _payload(rig, mass):
    from geometry_msgs.msg import Inertia
    rig.call('set_payload', name='load', frame=rig.subject.tool, payload=Inertia(m=mass))


def disables():
    for mode in MODES:
        yield Event('disable', f'disable, mode {mode}', lambda rig: rig.pipeline.disable(),
                    mode=mode)
    for action in ('zero', 'hold'):
        yield Event('disable', f'disable, safe_action {action}', lambda rig: rig.pipeline.disable(),
                    safety={'safe_action': action})
    yield Event('reference', 'a streamed reference ends', _end_stream, (HALF,),
                torque={'hold_reference': False}, stops=True)
    yield Event('publisher', 'another node announces itself on the command topic',
                lambda rig: setattr(rig.pipeline, 'other_publisher', True))
    yield Event('publisher', 'another node publishes zero torques', _second_publisher)


def _end_stream(rig):
    """Replace the reference by one that ends now, at speed."""
    now = rig.motion.at(1e-3 * (rig.ms - rig.motion_start))
    rig.pipeline.follow(list(rig.robot.joint_names), rig.clock(), np.array([0.002]),
                        now.q[None] + 0.002 * now.v, now.v[None], None)


def _second_publisher(rig):
    """Let another node send zeros after each torque; the node sees it at its next tick."""
    rig.other_command = np.zeros(rig.arm.n)
    rig.pipeline.other_publisher = True


def enables():
    """Enable, brakes closed until the first torque, with other contents of `effort`."""
    for name, effort in (
            ('in N m', lambda x: x), ('in mN m (or mA)', lambda x: 1000.0 * x),
            ('of the other sign', lambda x: -x), ('at the motor, 1/100', lambda x: 0.01 * x),
            ('in percent of the limit', None), ('left out', lambda x: ()),
            ('stuck at 1e6', lambda x: np.full(len(x), 1e6))):
        yield Event('enable', f'enable, effort {name}', _enable(effort), (BRAKED,))
    yield Event('enable', 'enable, effort left out, unknown_start gravity',
                _enable(lambda x: ()), (BRAKED,), safety={'unknown_start': 'gravity'})


def _enable(effort):
    def happen(rig):
        def spoil(q, v, x):
            return q, v, (100.0 * x / rig.arm.effort_limit if effort is None else effort(x))
        rig.spoil = spoil
        rig.run(0.01)   # the node measures it
        rig.mark()
        rig.enable()
    return happen


def processes():
    """Ends and stops of the two processes, as the torque code sees them."""
    yield Event('process', 'SIGKILL of the torque process',
                lambda rig: rig.kill(watchdog=True))
    yield Event('process', 'SIGKILL of the torque process and the watchdog',
                lambda rig: rig.kill())
    yield Event('process', 'SIGSTOP of the torque process for ever',
                lambda rig: rig.stand_still())
    for ms in (30, 100, 400):
        yield Event('process', f'SIGSTOP of the torque process for {ms} ms', _stop(ms))
    yield Event('process', 'SIGKILL of the serving process, SIGTERM, deactivate',
                lambda rig: rig.end())


def _stop(ms):
    def happen(rig):
        rig.running = False
        rig.after(ms, rig.resume)
    return happen


def contacts():
    yield Event('contact', f'a push of {PUSH:g} N for {1e3 * PUSH_TIME:g} ms', _push)
    yield Event('contact', 'the same push in mode impedance', _push, BOTH, 'impedance')
    yield Event('contact', 'the tool hits a table', lambda rig: None, (HALF,), table=True)
    yield Event('contact', 'the tool hits a table in mode impedance', lambda rig: None, (HALF,),
                'impedance', table=True)


def _push(rig):
    body = rig.arm.model.body(rig.subject.tool).id
    rig.arm.data.xfrc_applied[body, 2] = -PUSH
    rig.after(round(1e3 * PUSH_TIME), lambda: rig.arm.data.xfrc_applied[body].fill(0.0))
