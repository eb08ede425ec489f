"""Read a recording from a CSV file or a ROS 2 bag."""

from os import PathLike
from pathlib import Path

from dynamics_node.identification.bag_files import read_bag
from dynamics_node.identification.csv_files import read_csv
from dynamics_node.identification.recording import RawRecording

TOPIC = '/joint_states'


def read_recording(path: str | PathLike, topic: str = TOPIC) -> RawRecording:
    """Return the RawRecording of a CSV file or of a ROS 2 bag.

    :param path: a file *.csv, else a bag.
    :param topic: of the joint states in a bag.
    :raise DynamicsError: the file cannot be read, or has no joint states.
    """
    return read_csv(path) if Path(path).suffix == '.csv' else read_bag(path, topic)
