"""What does an identification leave in a folder? All that is needed to use and to judge it."""

import json
import os
import shutil
import tempfile
from pathlib import Path

from dynamics_node.errors import LONGEST_PATH, DynamicsError, shortened
from dynamics_node.identification.csv_files import write_csv
from dynamics_node.identification.friction_file import friction_yaml
from dynamics_node.identification.urdf_write_back import write_back
from dynamics_node.reports.identification_page import identification_report_page

URDF, FRICTION, RECORDING = 'robot.urdf', 'friction.yaml', 'recording.csv'
PAGE, ANSWERS = 'report.html', 'report.json'


def make_folder(path):
    """Make a folder if it is not there, or refuse: better before long work than after it."""
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except (OSError, ValueError, RecursionError) as error:  # a thousand folders in each other
        raise DynamicsError(f"cannot write into '{shortened(str(path), LONGEST_PATH)}': "
                            f'{getattr(error, "strerror", None) or error}') from error


def texts_of(urdf, found):
    """Return what a node loads of an Identification: (URDF, YAML of friction and rotors)."""
    return write_back(urdf, found.robot), friction_yaml(found.layout, found.values)


def write_identification_files(folder, urdf, robot, raw, done, about=None):
    """Write URDF, friction, recording and report; return their paths, list of str.

    All are made in a folder of their own and moved at the end: who is stopped before has changed
    nothing.

    :param urdf: text that the robot was made of, str or bytes.
    :param robot: as it was before.
    :param raw: RawRecording that was IdentifiedRecording, `done`.
    :param about: {what: value} for the line below the report's title.
    """
    make_folder(folder)
    found = done.result
    html, answers = identification_report_page(found, robot, done.prepared.recording, about,
                                               done.prepared.warnings)
    texts = dict(zip((URDF, FRICTION, PAGE, ANSWERS), (
        *texts_of(urdf, found), html, json.dumps(answers, indent=1, allow_nan=False) + '\n')))
    beside = Path(tempfile.mkdtemp(dir=folder))
    try:
        for name, text in texts.items():
            data = text if isinstance(text, bytes) else text.encode('utf-8', 'surrogatepass')
            (beside / name).write_bytes(data)
        write_csv(beside / RECORDING, raw)
        paths = [os.path.join(folder, name) for name in (*texts, RECORDING)]
        for path in paths:
            os.replace(beside / os.path.basename(path), path)
        return paths
    except OSError as error:
        raise DynamicsError(f"cannot write into '{folder}': {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
