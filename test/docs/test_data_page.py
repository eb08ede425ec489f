"""Test docs/data.md: its code runs, its mapping is valid, its tables are complete."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
from support.paths import DOCS
from support.robot_data_sets import episode_table

from dynamics_node import Robot
from dynamics_node.data import read_mapping, rollouts_file
from dynamics_node.data.motion import MARKS
from dynamics_node.data.quantities import QUANTITIES
from dynamics_node.example_robots import ARM7

PAGE = (DOCS / 'data.md').read_text()


def test_the_examples_run(fast_arm, tmp_path, monkeypatch):
    """But for the one that needs a cluster."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'robot.urdf').write_bytes(ARM7.read_bytes())
    (tmp_path / 'data').mkdir()
    pq.write_table(episode_table(fast_arm, 0, 400), 'data/episode_000000.parquet')
    first, metadata, motions, cluster = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    names = {}
    exec(first, names)  # noqa: S102
    assert names['done'].counts['rows'] == 400
    exec(metadata, names)  # noqa: S102
    assert names['schema'].field('gravity').metadata[b'unit'] == b'N m or N'
    (tmp_path / 'states').mkdir()
    pq.write_table(pa.table({name: [[0.1] * size] * 3 for name, size in (
        ('q', 7), ('v', 7), ('torque', 14))}), 'states/0.parquet')
    exec(motions, names)  # noqa: S102
    assert 'v_end' in pq.read_schema('ends/0.parquet').names
    assert 'acceleration_dtau' in pq.read_schema('accelerations/0.parquet').names
    assert 'scheduler' in cluster


def test_the_mapping_is_valid():
    robot = Robot.from_urdf(ARM7, locked={f'joint_{k}': 0.0 for k in range(4, 8)}, compile=False)
    (text,) = re.findall(r'```yaml\n(.*?)```', PAGE, flags=re.S)
    found = read_mapping(robot, text)
    assert found.position.unit == 'deg' and found.meaning == 'motor_torque' and found.rate == 30.0


def test_every_column_and_mark_is_on_the_page():
    for name, quantity in QUANTITIES.items():
        assert f'`{name}{":FRAME" if quantity.of_frame else ""}`' in PAGE
    for name, value in MARKS.items():
        assert f'| {value} `{name}` |' in PAGE
    for name in rollouts_file.QUANTITIES:
        assert f'`{name}`' in PAGE
    for name, value in rollouts_file.MARKS.items():
        assert f'{value} `{name}`' in PAGE
