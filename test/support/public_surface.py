"""Find every public callable, with a valid call of each."""

import functools
import inspect
import itertools
import os
import sys

import numpy as np

import dynamics_node
from dynamics_node import (
    Actuator,
    Constraint,
    FrameMotion,
    RigidContact,
    Robot,
    RobotLink,
    SoftContact,
    Spring,
    Target,
    Tracking,
)
from dynamics_node.constrained.read_loops import read_constraints, read_loops, to_yaml
from dynamics_node.control.controller import Controller
from dynamics_node.control.driver_compensation import DriverCompensation, preset
from dynamics_node.control.gains import Gains, TaskGains
from dynamics_node.control.reference import Reference
from dynamics_node.control.reference_limits import ReferenceLimits
from dynamics_node.control.spline import MotionSample, Spline, times_between
from dynamics_node.control.task_reference import task_reference
from dynamics_node.control.trajectory_torques import trajectory_torques
from dynamics_node.data.annotation import annotate
from dynamics_node.data.bulk_rollouts import rollouts
from dynamics_node.data.column_mapping import read_mapping
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.csv_files import read_csv
from dynamics_node.identification.excitation_search import ExcitationSettings, excitation
from dynamics_node.identification.payload_fit import identify_payload
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.recording import Recording, raw_recording
from dynamics_node.identification.recording_fit import identify_recording
from dynamics_node.identification.robot_fit import IdentificationOptions, identify
from dynamics_node.identification.static_poses import StaticPoses
from dynamics_node.identification.urdf_write_back import write_back
from dynamics_node.observer.contact import ContactFlag
from dynamics_node.observer.effort_meaning import meaning_of
from dynamics_node.observer.momentum import MomentumObserver, external_torques
from dynamics_node.observer.wrench import wrench_at
from dynamics_node.reports.model_page import model_report_page
from dynamics_node.reports.trajectory_page import trajectory_report_page
from dynamics_node.robot.self_test import self_test
from dynamics_node.safety import Gate, Measured, Proposal, SafetySettings, gate_limits_of, limits_of
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.tasks import Task

Q, TIMES = np.full(7, 0.1), np.array([0.0, 0.5, 1.0])
ROOT_LINK = RobotLink('base')
LINKS = [RobotLink('link', 'base', 'revolute', mass=1.0)]
CONTACT = Constraint('grip', 'point_contact', 'tool0', friction=0.5)


@functools.cache
def arm():
    return Robot.from_urdf(ARM7, compile=False)


@functools.cache
def loaded_arm():
    return arm().with_payload('it', 'tool0', 1.0)


def two_joints():
    """Return a robot that is identified in milliseconds, where it is compiled."""
    return _two_joints(os.environ.get('DYNAMICS_NODE_COMPILE'))


@functools.cache
def _two_joints(compiled):
    return Robot.from_urdf(ARM7, locked={f'joint_{k}': 0.1 for k in range(3, 8)})


@functools.cache
def recordings():
    """Return (a RawRecording, the Recording) of six seconds of it."""
    robot = two_joints()
    time = np.linspace(0.0, 6.0, 121)
    phase = np.multiply.outer(time, [2.0, 3.1])
    q, v, a = 0.5 * np.sin(phase), [1.0, 1.55] * np.cos(phase), [-2.0, -4.805] * np.sin(phase)
    tau = robot.inverse_dynamics(q, v, a)
    return (raw_recording(robot.joint_names, time, q, tau, v),
            Recording(robot.joint_names, time, q, v, a, tau))


@functools.cache
def static_poses():
    """Return StaticPoses of the arm with a load of 2 kg."""
    robot = arm().with_payload('load', 'tool0', 2.0, (0.0, 0.0, 0.1))
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (8, 7))
    return StaticPoses(robot.joint_names, q, robot.gravity_torque(q))


def _gate():
    gate = Gate(gate_limits_of(limits_of(arm()), SafetySettings()))
    gate.enable(0.0, _proposal())
    return gate


def _proposal():
    still = np.zeros(7)
    return Proposal(still, still, Measured(0.0, Q, still))


# Objects whose public methods count; classes are found to be called as well.
OBJECTS = {
    'Robot': loaded_arm, 'Constraint': lambda: CONTACT,
    'Target': lambda: Target('tool0', position=(0.3, 0.1, 0.5)),
    'FrameMotion': lambda: FrameMotion('tool0', (0.1, 0.0, 0.0)),
    'Tracking': lambda: Tracking(Target('tool0', position=(0.3, 0.1, 0.5))),
    'ModelReport': lambda: arm().report(), 'Task': lambda: Task('rest', 'torque'),
    'Bound': lambda: Bound('torque', 10.0),
    'Controller': lambda: Controller(arm(), 'computed_torque', Gains.per_joint(7, 50.0, 5.0)),
    'Gains': lambda: Gains.per_joint(7, 50.0, 5.0), 'TaskGains': lambda: TaskGains.of(7),
    'Reference': lambda: Reference.hold(Q, 0.0, ReferenceLimits.of(arm())),
    'Spline': lambda: Spline(TIMES, np.outer(TIMES, Q)),
    'MomentumObserver': lambda: MomentumObserver(arm(), meaning_of(arm(), 'motor_torque')),
    'ContactFlag': lambda: ContactFlag(7, 5.0), 'Gate': _gate,
}
CLASSES = {Constraint, Target, FrameMotion, Tracking, Task, Bound, Controller, Robot, RobotLink,
           Spline, MomentumObserver, ContactFlag, Gate, SafetySettings, Spring, Actuator,
           SoftContact, RigidContact}
FUNCTIONS = [
    read_constraints, read_loops, to_yaml, preset, times_between, task_reference,
    trajectory_torques, identify, identify_recording, identify_payload, prepare, read_csv,
    raw_recording, write_back, meaning_of, external_torques, wrench_at, model_report_page,
    trajectory_report_page, limits_of, gate_limits_of, self_test, excitation, ReferenceLimits.of,
    annotate, rollouts, read_mapping]
# Records that are read when they are used: their fields are arguments.
RECORDS = {
    'excitation.Settings': (ExcitationSettings, lambda it: excitation(two_joints(), it)),
    'identify.options': (IdentificationOptions,
                         lambda it: identify(two_joints(), recordings()[1], it)),
    'DriverCompensation': (DriverCompensation,
                           lambda it: Controller(arm(), driver_compensation=it)),
    'StaticPoses': (StaticPoses, lambda it: identify_payload(arm(), it, 'tool0')),
    'Motion': (MotionSample, lambda it: OBJECTS['Controller']().torque(Q, Q, it)),
}
# Trusted: they are made by the library and handed from one of its parts to another.
INSIDE = {
    'Reference',
    # A thousand times a second, by the node, with its own clock and records.
    'Gate.enable', 'Gate.disable', 'Gate.step', 'Gate.tick', 'Gate.report_fault',
    'Gate.shutdown_sequence', 'Reference.error', 'Reference.has',
}
# Functions of the same modules that other parts of the library call, with arguments it has checked.
HELPERS = {
    'as_dict', 'balance', 'bare', 'bound_rows', 'changed_links', 'check_actuators',
    'check_one_axis', 'check_springs', 'check_watchdog_time', 'checked', 'checked_points',
    'coordinates_of', 'demand', 'driver_terms', 'effort_limit', 'followed_by', 'frame_of',
    'friction_to_send', 'gravity_torque', 'holonomic_rows', 'motion_rows', 'motor_names',
    'named_joints', 'neutral', 'normal_rows', 'constant_rows',
    'prepare_without_delay',
    'select_joints', 'parts_of', 'per_dof', 'pose_of', 'quintics_from', 'record_of_links',
    'recorded_steps',
    'rotation_of', 'row_names', 'selection', 'setting', 'shifted', 'size', 'soft_force',
    'task_rows', 'validate', 'with_joints', 'without_missing_efforts', 'without_springs',
    'write_csv', 'write_table',
}
SAMPLES = {
    'q': Q, 'v': Q, 'a': Q, 'tau': Q, 'q0': Q, 'q1': Q, 'dq': Q, 'dv': Q, 'da': Q, 'weights': Q,
    'torque': Q, 'effort': Q, 'frame': 'tool0', 'link': 'tool0', 'given': np.ones(7, dtype=bool),
    'contacts': (CONTACT,), 'constraints': (CONTACT,), 'gravity': (0.0, 0.0, -9.81),
    'loops': None, 'name': 'it', 'mass': 1.0, 'source': ARM7,
    'targets': Target('tool0', position=(0.3, 0.1, 0.5)), 'now': 0.01, 'start': 0.0, 'dt': 0.001,
    'tasks': [FrameMotion('tool0', (0.1, 0.0, 0.0))], 'nv': 7, 'kp': 50.0, 'kd': 5.0,
    'frequency': 10.0, 'times': TIMES, 'time': TIMES, 'positions': np.outer(TIMES, Q), 't': 0.5,
    'period': 0.1, 'position': (0.3, 0.1, 0.5), 'orientation': (0.0, 0.0, 0.0, 1.0),
    'force': np.ones(3), 'thresholds': 5.0, 'urdf': ARM7.read_text(), 'joint_names': ('joint_1',
                                                                                      'joint_2'),
    'text': 'a reason', 'kind': 'torque', 'path': '/no/such/file.csv',
    'loads': {'it': ('tool0', 1.0, (0.0, 0.0, 0.0), None)}, 'matrix': np.eye(4),
    'target': Target('tool0', position=(0.3, 0.1, 0.5)), 'links': LINKS,
    'springs': [Spring('it', 1.0, joint='joint_1')], 'actuators': [Actuator('it', 'tool0')],
}
MADE = {   # anew for each call, or not before they are needed
    'robot': arm, 'model': lambda: arm().model,
    'limits': lambda: limits_of(arm()), 'proposal': _proposal,
    'meaning': lambda: meaning_of(arm(), 'motor_torque'),
    'raw': lambda: recordings()[0], 'recording': lambda: recordings()[1],
}
LINK_FIELDS = {   # all fields, though they have defaults
    'parent': 'base', 'joint': 'revolute', 'placement': np.eye(4), 'axis': (0, 0, 1),
    'anchor': (0.1, 0, 0), 'mass': 1.0, 'com': (0, 0, 0), 'lower': -1.0, 'upper': 1.0,
    'max_velocity': 1.0, 'max_effort': 1.0, 'damping': 0.1, 'friction': 0.1, 'armature': 0.1,
    'mimic': ('other', 1.0, 0.0), 'joint_name': 'joint',
}
# Where a parameter means something else than elsewhere, or an optional one is needed.
OTHERS = {
    'Robot.link_wrenches': {'wrenches': {'tool0': np.ones(6)}},
    'Robot.point_jacobian': {'point': (0.1, 0.2, 0.3), 'relative_to': 'link_3'},
    'read_mjcf': {'source': '<mujoco><worldbody/></mujoco>'},
    'RobotLink': {**LINK_FIELDS, 'name': 'link', 'inertia': np.eye(3)},
    'Robot.from_links': {'links': [ROOT_LINK, *LINKS], 'name': 'it', 'notes': ['a note']},
    'links_from_screws': {'home': [np.eye(4)], 'angular': [(0, 0, 1)], 'linear': [(0, 0, 0)],
                          'form': 'space'},
    'links_from_dh': {**dict.fromkeys(('a', 'alpha', 'd', 'theta'), [0.1]),
                      'convention': 'standard'},
    'Robot.prescribed_forward_dynamics': {'motion': np.zeros((3, 3)).tolist(),
                                          'constraints': (CONTACT,)},
    'Robot.soft_contact_forces': {'contacts': [SoftContact('it', 'tool0', 1000.0)]},
    'SoftContact': {'stiffness': 1000.0, 'damping': 10.0, 'friction': 0.5},
    'RigidContact': {'friction': 0.0},
    'Robot.actuator_forces': {'tau': np.zeros(7)},
    'Spring': {'joint': 'joint_1', 'stiffness': 1.0, 'damping': 0.1, 'rest': 0.2},
    'Robot.whole_body': {'tasks': [Task('rest', 'torque')]},
    'Robot.simulate': {'time': (0.0, 1e-5), 'step': 1e-5},
    'Robot.rollouts': {'torque': np.zeros((1, 7)), 'period': 1e-5, 'periods': 1, 'step': 10.0},
    'Constraint': {'kind': 'point_contact', 'frame': 'tool0'},
    'FrameMotion': {'linear': (0.1, 0.0, 0.0)}, 'Target': {'position': (0.3, 0.1, 0.5)},
    'read_constraints': {'source': '{constraints: []}'},
    'read_mapping': {'source': {'position': {'column': 'state'}, 'rate': 50.0}},
    'annotate': {'files': '/no/such/*.parquet', 'columns': ['gravity'], 'out': '/no/such/out'},
    'rollouts': {'files': '/no/such/*.parquet', 'out': '/no/such/out', 'period': 0.01,
                 'columns': ['q_end'], 'q': 'q', 'v': 'v', 'torque': 'torque', 'step': 0.01},
    'read_loops': {'source': '{constraints: []}'}, 'preset': {'name': 'full'},
    'meaning_of': {'name': 'current',
                   'torque_constants': {f'joint_{k}': 0.5 for k in range(1, 8)}},
    'Controller.torque': {'motion': MotionSample(Q, Q, Q), 'v': Q},
    'Controller.braking_torque': {'v': Q, 'effort': np.full(7, 100.0), 'max_rate': 5.0},
    'raw_recording': {'q': np.outer(TIMES, [1.0, 2.0]), 'tau': np.ones((3, 2))},
    'external_torques': {name: np.outer(np.ones(3), Q) for name in ('q', 'v', 'effort')},
    'excitation': {'settings': ExcitationSettings(iterations=0, harmonics=2, seconds=0.0)},
    'excitation.Settings': {'iterations': 0, 'harmonics': 2, 'seconds': 0.0, 'period': 2.0},
}
GATE_LIMITS = {'limits': lambda: gate_limits_of(limits_of(arm()))}
OTHERS_MADE = {
    'Gate': GATE_LIMITS, 'Gate.change_limits': GATE_LIMITS,
    'Reference.hold': {'limits': lambda: ReferenceLimits.of(arm())},
    'Reference.stop': {'limits': lambda: ReferenceLimits.of(arm())},
    'StaticPoses': {'joint_names': lambda: arm().joint_names, 'q': lambda: static_poses().q,
                    'tau': lambda: static_poses().tau},
    'identify_payload': {'recording': static_poses},
    **{name: {'robot': two_joints} for name in (
        'identify', 'identify_recording', 'prepare', 'excitation')},
}
# What is valid and still refused here: there is no such file, and nothing is compiled.
REFUSED = {'annotate', 'rollouts', 'read_csv', 'Robot.compile', 'Controller.compile'}


def callables():
    """Return {label: (the callable, {parameter: a function that makes a valid value})}."""
    listed = [getattr(dynamics_node, name) for name in dynamics_node.__all__]
    listed = [each for each in listed if not (inspect.isclass(each)
                                              and issubclass(each, Exception))]
    found = {}
    for each in itertools.chain(CLASSES, FUNCTIONS, listed):
        if not inspect.isclass(each) or each in CLASSES:
            found[each.__qualname__] = each
    for label, make in OBJECTS.items():
        for name in _public_methods(make()):
            found[f'{label}.{name}'] = _method(make, name)
    for label, (kind, use) in RECORDS.items():
        found[label] = _used(kind, use)
    return {label: (each, _samples(label, each)) for label, each in sorted(found.items())
            if label not in INSIDE}


def unlisted():
    """Return the public functions of the modules above that are neither called nor helpers."""
    modules = {sys.modules[each.__module__] for each in (*FUNCTIONS, *CLASSES)}
    found = [each for module in modules for name, each in vars(module).items()
             if inspect.isfunction(each) and not name.startswith('_')
             and each.__module__ == module.__name__]
    return sorted({each.__name__ for each in found if each not in FUNCTIONS} - HELPERS)


def _public_methods(made):
    own = [name for name in dir(type(made)) if not name.startswith('_')
           and not (isinstance(made, tuple) and hasattr(tuple, name))]
    return [name for name in own if callable(getattr(type(made), name))]


def _method(make, name):
    """Return a method of an object that is made anew for each call; robots do not change."""
    @functools.wraps(getattr(make(), name))
    def call(*args, **kwargs):
        return getattr(make(), name)(*args, **kwargs)
    return call


def _used(kind, use):
    """Return a function that makes a record of its fields, and has it read."""
    @functools.wraps(kind)
    def call(*args, **kwargs):
        return use(kind(*args, **kwargs))
    return call


def _samples(label, function):
    """Return {parameter: a function that makes a valid value}, None where none is known."""
    others = {name: functools.partial(lambda value: value, value)
              for source in (SAMPLES, OTHERS.get(label, {})) for name, value in source.items()}
    known = {**others, **MADE, **OTHERS_MADE.get(label, {})}
    for name in OTHERS.get(label, {}):
        known[name] = others[name]
    needed = [each.name for each in inspect.signature(function).parameters.values()
              if each.kind is not each.VAR_KEYWORD and (
                  each.default is each.empty or each.name in OTHERS.get(label, {}))]
    return {name: known.get(name) for name in needed}
