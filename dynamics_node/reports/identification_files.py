"""Write the files of an identification: URDF, friction parameters, recording and report."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dynamics_node.errors import LONGEST_PATH, DynamicsError, shortened
from dynamics_node.identification.csv_files import write_csv
from dynamics_node.identification.friction_file import friction_of, friction_yaml
from dynamics_node.identification.recording import RawRecording
from dynamics_node.identification.recording_fit import IdentifiedRecording
from dynamics_node.identification.robot_fit import Identification
from dynamics_node.identification.urdf_write_back import Text, write_back
from dynamics_node.reports.identification_page import identification_report_page
from dynamics_node.robot.robot import Robot

URDF, FRICTION, RECORDING = 'robot.urdf', 'friction.yaml', 'recording.csv'
PAGE, NUMBERS = 'report.html', 'report.json'
FILES = (URDF, FRICTION, PAGE, NUMBERS, RECORDING)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder if it is missing, and check that it is writable, before long work."""
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=os.fspath(path)):
            pass
    except (OSError, ValueError, RecursionError) as error:  # a thousand folders in each other
        raise DynamicsError(f"cannot write into '{shortened(str(path), LONGEST_PATH)}': "
                            f'{getattr(error, "strerror", None) or error}') from error


def check_new(folder: str | os.PathLike[str]) -> None:
    """Raise a DynamicsError if a folder has one of the files already."""
    present = [name for name in FILES if os.path.lexists(os.path.join(folder, name))]
    if present:
        raise DynamicsError(f"'{shortened(str(folder), LONGEST_PATH)}' has {', '.join(present)} "
                            'already, and files are not replaced; name another folder')


def texts_of(urdf: Text, identification: Identification) -> tuple[Text, str]:
    """Return the texts that a node loads: (URDF, YAML of friction and armature)."""
    return write_back(urdf, identification.robot), friction_yaml(*friction_of(
        identification.robot, identification.layout, identification.values))


def write_identification_files(folder: str | os.PathLike[str], urdf: str | bytes, robot: Robot,
                               raw: RawRecording, identified: IdentifiedRecording,
                               about: Mapping[str, object] | None = None,
                               overwrite: bool = True) -> list[str]:
    """Write URDF, friction, recording and report; return their paths.

    All are written to a temporary folder and moved at the end: an interruption changes nothing.

    :param urdf: text that the robot was read from.
    :param robot: before the identification.
    :param raw: the recording of `identified`.
    :param about: {key: value} for the line below the title of the report.
    :param overwrite: whether files of an earlier identification may be replaced.
    :raise DynamicsError: the folder is not writable, or has such files and must not.
    """
    make_folder(folder)
    html, numbers = identification_report_page(
        identified.result, robot, identified.prepared.recording, about,
        identified.prepared.warnings,
        None if identified.validation is None else identified.validation.recording)
    texts = dict(zip(FILES, (
        *texts_of(urdf, identified.result), html,
        json.dumps(numbers, indent=1, allow_nan=False) + '\n')))
    beside = Path(tempfile.mkdtemp(dir=folder))
    try:
        for name, text in texts.items():
            data = text if isinstance(text, bytes) else text.encode('utf-8', 'surrogatepass')
            (beside / name).write_bytes(data)
        write_csv(beside / RECORDING, raw)
        paths = [os.path.join(folder, name) for name in FILES]
        if not overwrite:
            check_new(folder)
        for path in paths:
            os.replace(beside / os.path.basename(path), path)
        return paths
    except OSError as error:
        raise DynamicsError(f"cannot write into '{folder}': {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
