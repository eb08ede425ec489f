"""Read a recording from a CSV file, an archive of arrays, a Parquet file or a ROS 2 bag."""

from collections.abc import Sequence
from os import PathLike, fspath

from dynamics_node.checks import check_kind
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.array_files import read_npz, read_parquet
from dynamics_node.identification.bag_files import read_bag
from dynamics_node.identification.csv_files import read_csv
from dynamics_node.identification.recording import RawRecording

TOPIC = '/joint_states'
TABLES = ('.csv', '.csv.gz', '.tsv', '.tsv.gz', '.txt', '.txt.gz')


def read_recording(path: str | PathLike, topic: str = TOPIC,
                   columns: Sequence[str] = ()) -> RawRecording:
    """Return the RawRecording of a file or of a ROS 2 bag.

    :param path: a file .csv, .tsv or .txt, also with .gz, .npz or .parquet; else a bag.
    :param topic: topic of the joint states in a bag.
    :param columns: names of the columns of a table without a header.
    :raise DynamicsError: the file cannot be read, or has no joint states.
    """
    check_kind('path', path, (str, PathLike))
    name = str(fspath(path)).lower()
    if name.endswith(TABLES):
        return read_csv(path, columns)
    if len(columns):
        raise DynamicsError(f'columns are given, which only tables have; expected a file '
                            f'{", ".join(TABLES)}')
    if name.endswith('.npz'):
        return read_npz(path)
    return read_parquet(path) if name.endswith('.parquet') else read_bag(path, topic)
