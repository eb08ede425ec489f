"""The command `call`: call a service of a running node and print its reply."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.checks import named_numbers
from dynamics_node.commands.ros_import import import_ros
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.spec import FRAME
from dynamics_node.kernels.table import ALL_KERNELS
from dynamics_node.task_space.target import Target
from dynamics_node.yaml_records import text_of


class Question(NamedTuple):
    """A question that the command asks: a method of the client, and the options it takes."""

    method: str                       # of DynamicsClient
    kernel: str = ''                  # its inputs are options; of several kernels: most inputs
    options: Mapping[str, str] = {}   # {argument of the method: option}, beside those inputs
    fields: Mapping[str, Any] = {}    # further arguments of the method, where no option gives them


QUESTIONS = {
    'inverse': Question('inverse_dynamics', 'inverse_dynamics'),
    'forward': Question('forward_dynamics', 'forward_dynamics'),
    'terms': Question('dynamics_terms', 'coriolis_matrix'),
    'reactions': Question('joint_reactions', 'joint_reactions'),
    'kinematics': Question('kinematics', 'jacobian_rate'),
    'operational_space': Question('operational_space', 'jacobian_rate', {'axes': 'axes'},
                                  {'frames': ()}),
    'inverse_kinematics': Question(
        'inverse_kinematics', options={'start': 'joint', 'frames': 'frame', 'poses': 'pose'}),
    'inverse_derivatives': Question('dynamics_derivatives', 'inverse_dynamics_derivatives',
                                    fields={'question': 'inverse'}),
    'forward_derivatives': Question('dynamics_derivatives', 'forward_dynamics_derivatives',
                                    fields={'question': 'forward'}),
    'linearization': Question('linearization', 'forward_dynamics_derivatives', {'step': 'step'}),
    'support': Question('contact_and_impact', options={
        'q': 'joint', 'v': 'velocity', 'contact_frames': 'frame', 'contacts': 'contacts'},
        fields={'question': 'support'}),
    'soft_forces': Question('contact_and_impact', options={
        'q': 'joint', 'v': 'velocity', 'soft_contacts': 'contacts'},
        fields={'question': 'soft_forces'}),
    'payloads': Question('list_payloads'),
    'report': Question('model_report'),
    'selftest': Question('self_test'),
}
# input of a kernel, which is an argument of the client -> option of the command line
INPUTS = {'q': 'joint', 'v': 'velocity', 'a': 'acceleration', 'tau': 'effort',
          'wrenches': 'wrench', 'frames': 'frame'}
DETAILS = """\
examples:
  %(prog)s inverse --joint joint_1=0.1 joint_2=0.2 --velocity joint_1=0 joint_2=0
  %(prog)s forward --effort joint_1=5.0
  %(prog)s kinematics --frame tool --json
  %(prog)s operational_space --frame tool --axes x y z
  %(prog)s inverse_kinematics --frame tool --pose 0.4,0.1,0.5
  %(prog)s linearization --step 0.001 --json
  %(prog)s support --frame left_foot right_foot
  %(prog)s soft_forces --contacts soft_contacts.yaml
  %(prog)s report --node /left/dynamics_node

Missing positions, velocities and efforts are measured ones; missing accelerations are zero.
exit code: 0 replied, 2 refused or no reply
"""


def add_parser(subparsers: Any) -> None:
    """Add the command `call`."""
    parser = subparsers.add_parser('call', help='call a service of a running node', epilog=DETAILS,
                                   description='Call a service of a running dynamics node.',
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('question', choices=QUESTIONS, help='the service to call')
    for name, text in (('joint', 'position of a joint [rad or m]'),
                       ('velocity', 'velocity of a joint [rad/s or m/s]'),
                       ('acceleration', 'acceleration of a joint [rad/s^2 or m/s^2]'),
                       ('effort', 'effort of a joint [N m or N]')):
        parser.add_argument(f'--{name}', metavar='JOINT=NUMBER', nargs='+', action='extend',
                            default=[], help=f'{text}; may be repeated')
    parser.add_argument('--wrench', metavar='LINK=FX,FY,FZ,TX,TY,TZ', action='append', default=[],
                        help='external wrench on the robot at the link, in its axes [N, N m]')
    parser.add_argument('--frame', metavar='LINK', nargs='+', action='extend', default=[],
                        help='links, for operational_space, inverse_kinematics and kinematics '
                        '(none: all); for support: links in contact, at points')
    parser.add_argument('--contacts', metavar='FILE', help='for support and soft_forces: YAML '
                        'list of the contacts, rigid or soft (docs/constraints.md)')
    parser.add_argument('--axes', metavar='AXIS', nargs='+', action='extend', default=[],
                        help='for operational_space: some of x y z rx ry rz; none: all')
    parser.add_argument('--pose', metavar='X,Y,Z[,QX,QY,QZ,QW]', action='append', default=[],
                        help='for inverse_kinematics: target of each --frame, in the root frame; '
                        'without a quaternion the orientation is free')
    parser.add_argument('--step', metavar='SECONDS', type=float,
                        help='for linearization: time step of a discrete model; none: continuous')
    parser.add_argument('--node', default='dynamics_node', help='name of the node, with namespace')
    parser.add_argument('--timeout', type=float, default=10.0, help='greatest time to wait [s]')
    parser.add_argument('--json', action='store_true', help='print JSON instead of tables')
    parser.set_defaults(run=call)


def call(arguments: argparse.Namespace) -> int:
    """Call the service, and write the reply to the standard output; return the exit code."""
    fields = _fields(arguments)
    DynamicsClient = import_ros('dynamics_node.ros.client', "the command 'call'").DynamicsClient
    import rclpy
    rclpy.init(args=[])
    try:
        node = rclpy.create_node('dynamics_node_call')
        client = DynamicsClient(node, arguments.node, arguments.timeout)
        reply = getattr(client, QUESTIONS[arguments.question].method)(**fields)
    except TimeoutError as error:
        raise DynamicsError(str(error)) from None
    finally:
        rclpy.try_shutdown()
    shown = {name: value for name, value in vars(reply).items()
             if name not in ('success', 'message')}
    sys.stdout.write((json.dumps(shown, indent=2, default=_plain) if arguments.json
                      else as_text(shown)) + '\n')
    return 0


def options_of(question: str) -> dict[str, str]:
    """Return {argument of the client: option of the command line}, as the KernelSpec has them."""
    asked = QUESTIONS[question]
    inputs: tuple[str, ...] = ()
    if asked.kernel:
        spec = ALL_KERNELS[asked.kernel]
        inputs = (*spec.inputs, *spec.wrenches, *(('frames',) if spec.subject == FRAME else ()))
    return {**{name: INPUTS[name] for name in inputs}, **asked.options}


def _fields(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of the client's method."""
    options = options_of(arguments.question)
    for word in (*INPUTS.values(), 'axes', 'pose', 'step', 'contacts'):
        if getattr(arguments, word) not in (None, []) and word not in options.values():
            known = ', '.join(f'--{other}' for other in options.values()) or 'none'
            raise DynamicsError(f'--{word} is not an option of {arguments.question}; valid choices '
                                f'are {known}')
    read = {'wrench': _wrenches, 'frame': _as_is, 'axes': _as_is, 'pose': _poses, 'step': _as_is,
            'contacts': text_of}
    fields = {argument: read.get(word, _numbers)(f'--{word}', getattr(arguments, word))
              for argument, word in options.items() if getattr(arguments, word) not in (None, [])}
    fields = {**QUESTIONS[arguments.question].fields, **fields}
    if arguments.question == 'inverse_kinematics':
        fields['targets'] = _targets(fields.pop('frames', []), fields.pop('poses', []))
    return _completed(fields)


def _targets(frames: Sequence[str], poses: Sequence[list[float]]) -> list[Target]:
    """Return one Target per frame."""
    if len(frames) != len(poses):
        raise DynamicsError(f'--frame names {len(frames)} links, but there are {len(poses)} --pose;'
                            ' expected one for each')
    return [Target(frame, pose[:3], pose[3:] or None) for frame, pose in zip(frames, poses)]


def _as_is(name: str, value: Any) -> Any:
    return value


def _completed(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with the acceleration of every named joint, zero where none is given."""
    joints = list(dict.fromkeys(name for key in ('q', 'v', 'a', 'tau') if key in fields
                                for name in fields[key]))
    if 'a' in fields:
        fields['a'] = {name: fields['a'].get(name, 0.0) for name in joints}
    return fields


def _numbers(name: str, words: Sequence[str]) -> dict[str, float]:
    return named_numbers(name, ' '.join(words))


def _wrenches(name: str, words: Sequence[str]) -> dict[str, list[float]]:
    wrenches = {}
    for word in words:
        frame, _, numbers = word.partition('=')
        wrenches[frame] = _listed(numbers)
        if len(wrenches[frame]) != 6:
            raise DynamicsError(f"{name} is '{word}'; expected link=fx,fy,fz,tx,ty,tz")
    return wrenches


def _poses(name: str, words: Sequence[str]) -> list[list[float]]:
    poses = [_listed(word) for word in words]
    for word, pose in zip(words, poses):
        if len(pose) not in (3, 7):
            raise DynamicsError(f"{name} is '{word}'; expected x,y,z or x,y,z,qx,qy,qz,qw")
    return poses


def _listed(numbers: str) -> list[float]:
    """Return numbers separated by commas; an empty list if one is not a number."""
    try:
        return [float(number) for number in numbers.split(',')]
    except ValueError:
        return []


def as_text(fields: dict[str, Any]) -> str:
    """Return the fields of a reply as text: one line per joint, matrices in rows."""
    if isinstance(fields.get('report'), str):
        return fields['report']
    names = fields.pop('joint_names', [])
    columns = {name: fields.pop(name) for name, value in list(fields.items())
               if names and isinstance(value, np.ndarray) and value.shape == (len(names),)}
    return '\n'.join([*_table(names, columns), *(line for name, value in fields.items()
                                                 for line in _lines(name, value))])


def _table(names: Sequence[str], columns: Mapping[str, np.ndarray]) -> Iterator[str]:
    if columns:
        width = max(map(len, names))
        yield ' ' * width + ''.join(f'  {name:>14}' for name in columns)
        for k, joint in enumerate(names):
            yield f'{joint:{width}}' + ''.join(f'  {column[k]:14.6g}'
                                               for column in columns.values())


def _lines(name: str, value: Any) -> Iterator[str]:
    """Yield the lines of one field; nothing for an empty one."""
    if isinstance(value, (list, np.ndarray)) and not len(value):
        return
    if isinstance(value, np.ndarray):
        shown = np.array2string(value, precision=5, suppress_small=True, max_line_width=120)
        yield f'{name}: {shown}' if value.ndim == 1 else f'{name}:\n{shown}'
    elif isinstance(value, list) and hasattr(value[0], 'get_fields_and_field_types'):
        yield f'{name}:'
        yield from (f'  {_short(each)}' for each in value)
    else:
        yield f'{name}: {_short(value)}'


def _short(value: Any) -> str:
    """Return a number, a text, a list of them or a message in one line."""
    if hasattr(value, 'get_fields_and_field_types'):
        return '  '.join(f'{name} {_short(getattr(value, name))}'
                         for name in value.get_fields_and_field_types())
    if isinstance(value, list):
        return ', '.join(map(str, value))
    return f'{value:.6g}' if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """Return a message or array in types of JSON, null in place of nan."""
    if isinstance(value, np.ndarray):
        null: Any = None
        return np.where(np.isfinite(value), value, null).tolist()
    return {name: getattr(value, name) for name in value.get_fields_and_field_types()}
