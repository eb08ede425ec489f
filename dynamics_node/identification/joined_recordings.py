"""Join several recordings of one robot into one, so that they are fitted together."""

from collections.abc import Sequence

import numpy as np

from dynamics_node.checks import check_kind
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.recording import PAUSE, RawRecording

BETWEEN = 1.001 * PAUSE   # [s] longer than PAUSE also after rounding: filters separate the parts


def join_recordings(recordings: Sequence[RawRecording],
                    names: Sequence[str] = ()) -> RawRecording:
    """Return one recording of all samples, in the order given, with a pause between the parts.

    Its joints are those of the first. Velocities are kept if every recording has them.

    :param names: names of the recordings for messages, such as paths; default: their numbers.
    :raise DynamicsError: there is no recording, or one has no samples or lacks joints of the first.
    """
    if not recordings:
        raise DynamicsError('there is no recording to join; expected one or more')
    joints = check_kind('a recording', recordings[0], RawRecording).joint_names
    parts, start = [], 0.0
    for k, raw in enumerate(recordings):
        missing = [name for name in joints if name not in check_kind(
            'a recording', raw, RawRecording).joint_names]
        called = names[k] if k < len(names) else f'recording {k + 1}'
        if missing:
            raise DynamicsError(f'{called} lacks the joints {missing} of the first recording')
        if not len(raw.time):
            raise DynamicsError(f'{called} has no samples; leave it out')
        time = raw.time if k == 0 else raw.time - raw.time[0] + start
        parts.append(raw.joints(joints)._replace(time=time))
        start = float(time[-1]) + BETWEEN
    v = [part.v for part in parts if part.v is not None]
    return RawRecording(joints, np.concatenate([part.time for part in parts]),
                        np.concatenate([part.q for part in parts]),
                        np.concatenate(v) if len(v) == len(parts) else None,
                        np.concatenate([part.tau for part in parts]),
                        tuple(dict.fromkeys(name for part in parts for name in part.currents)),
                        tuple(note for part in parts for note in part.notes))
