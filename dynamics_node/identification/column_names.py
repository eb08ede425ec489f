"""Recognise the columns of a table by their names: time, and quantities of joints.

| quantity | names, here of joint `elbow` or of the first joint |
|---|---|
| time [s] | `time`, `__time`, `timestamp`, `stamp`, `t` |
| position | `position_elbow`, `pos_elbow`, `q_elbow`, `q1`, `/joint_states/elbow/position` |
| velocity | `velocity_elbow`, `vel_elbow`, `v_elbow`, `qd1`, `dq1`, `.../elbow/velocity` |
| effort | `effort_elbow`, `torque_elbow`, `tau_elbow`, `tau1`, `/joint_states/elbow/effort` |
| current | `current_elbow`, `current1`: an effort in ampere, see `motor_side.py` |

Numbered joints are those of the robot, in its order. Other columns are not read.
"""

import re
from collections.abc import Sequence

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.recording import RawRecording, raw_recording

TIMES = ('time', '__time', 'timestamp', 'stamp', 't')
WORDS = {'position': 'position', 'pos': 'position', 'q': 'position',
         'velocity': 'velocity', 'vel': 'velocity', 'v': 'velocity', 'qd': 'velocity',
         'dq': 'velocity', 'effort': 'effort', 'torque': 'effort', 'tau': 'effort',
         'current': 'current'}
PATTERNS = (re.compile(rf'(?P<word>{"|".join(WORDS)})_(?P<joint>.+)'),
            re.compile(rf'(?P<word>{"|".join(WORDS)})(?P<joint>\d+)'),
            re.compile(r'(?:.*/)?(?P<joint>[^/]+)/(?P<word>position|velocity|effort)'))
EXPECTED = ('expected the header time,position_<joint>,...,effort_<joint>,... or a table of '
            'PlotJuggler or of `ros2 topic echo --csv`')


def recording_of_table(source: object, header: Sequence[str], table: np.ndarray) -> RawRecording:
    """Return the RawRecording of a table whose columns have names.

    :param source: for error messages: where the table comes from.
    :param table: (N, columns)
    :raise DynamicsError: a quantity is missing, or is there twice.
    """
    places, time = _places(source, header)
    joints = list(dict.fromkeys(joint for joint, _ in places))
    if time is None or not joints:
        raise DynamicsError(f'{source} has no column named time, or none named after a joint; '
                            f'{EXPECTED}')
    for joint in joints:
        if (joint, 'position') not in places:
            raise DynamicsError(f"{source} has no column with the position of joint '{joint}'; "
                                'each joint needs it')
    currents = tuple(joint for joint in joints
                     if (joint, 'current') in places and (joint, 'effort') not in places)
    places |= {(joint, 'effort'): places[joint, 'current'] for joint in currents}
    if not any((joint, 'effort') in places for joint in joints):
        raise DynamicsError(f"{source} has no column with the effort of joint '{joints[0]}', nor "
                            'of any other; each joint with a motor needs it')
    table = np.column_stack([table, np.full(len(table), np.nan)])

    def columns(quantity: str) -> np.ndarray:   # the last column of the table is NaN
        return table[:, [places.get((joint, quantity), -1) for joint in joints]]
    measured = all((joint, 'velocity') in places for joint in joints)
    raw = raw_recording(joints, table[:, time], columns('position'), columns('effort'),
                        columns('velocity') if measured else None)
    return raw._replace(currents=currents)


def _places(source: object, header: Sequence[str]
            ) -> tuple[dict[tuple[str, str], int], int | None]:
    """Return ({(joint, quantity): column}, column of the time or None)."""
    places: dict[tuple[str, str], int] = {}
    time = None
    for k, name in enumerate(header):
        match = next(filter(None, (pattern.fullmatch(name) for pattern in PATTERNS)), None)
        if name.lower() in TIMES:
            time = k if time is None else time
        elif match:
            key = match['joint'], WORDS[match['word']]
            if key in places:
                raise DynamicsError(f'{source} has the {key[1]} of one joint twice, in columns '
                                    f'{places[key] + 1} and {k + 1}')
            places[key] = k
    return places, time
