"""Write ROS 2 bags with joint states."""

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

STORE = get_typestore(Stores.ROS2_JAZZY)
EPOCH = 1_700_000_000   # [s] stamps of today: a float of them has steps of 0.2 us


def write_bag(path, messages, plugin=StoragePlugin.SQLITE3, topic='/joint_states'):
    """Write (stamp [s after EPOCH], names, position, velocity, effort) in their order."""
    types = STORE.types
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        connection = writer.add_connection(topic, 'sensor_msgs/msg/JointState', typestore=STORE)
        other = writer.add_connection('/rosout', 'std_msgs/msg/String', typestore=STORE)
        for k, (stamp, names, *values) in enumerate(messages):
            sec, nanosec = (0, 0) if stamp is None else divmod(round(stamp * 1e9), 10 ** 9)
            header = types['std_msgs/msg/Header'](
                stamp=types['builtin_interfaces/msg/Time'](
                    sec=sec if stamp is None else EPOCH + sec, nanosec=nanosec), frame_id='')
            position, velocity, effort = (np.array(x, dtype=float) for x in values)
            message = types['sensor_msgs/msg/JointState'](
                header=header, name=list(names), position=position, velocity=velocity,
                effort=effort)
            writer.write(connection, (EPOCH + 100) * 10 ** 9 + k * 10 ** 7, STORE.serialize_cdr(
                message, 'sensor_msgs/msg/JointState'))
        writer.write(other, EPOCH * 10 ** 9, STORE.serialize_cdr(
            types['std_msgs/msg/String'](data='x'), 'std_msgs/msg/String'))
    return path
