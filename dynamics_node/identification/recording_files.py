"""What was recorded in a file, whatever kind it is?"""

from pathlib import Path

from dynamics_node.identification.bag_files import read_bag
from dynamics_node.identification.csv_files import read_csv

TOPIC = '/joint_states'


def read_recording(path, topic=TOPIC):
    """Return the RawRecording of a CSV file or of a ROS 2 bag.

    :param topic: of the joint states in a bag.
    :raise DynamicsError: what the file lacks.
    """
    return read_csv(path) if Path(path).suffix == '.csv' else read_bag(path, topic)
