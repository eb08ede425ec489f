"""Test the engines: results of all jobs, errors as results; Dask and Ray where installed."""

import importlib.util

import pytest

from dynamics_node import DynamicsError
from dynamics_node.data import annotate
from dynamics_node.data.engines import MODULES, PACKAGES, check_engine, run_jobs

JOBS = [(f'source {k}', f'target {k}') for k in range(7)]


def job(factor, source, target):
    if source == 'source 3':
        raise DynamicsError('no such file')
    return {'value': factor * int(source[-1])}


def test_all_jobs_have_a_result_or_an_error():
    found = dict(run_jobs(job, (10,), JOBS, None, 3))
    assert {source: result['value'] for (source, _), result in found.items()
            if not isinstance(result, DynamicsError)} == {
        f'source {k}': 10 * k for k in range(7) if k != 3}
    assert str(found['source 3', 'target 3']) == 'no such file'
    assert list(run_jobs(job, (10,), [], None, 3)) == []


def test_other_errors_are_raised():
    """A defect is not hidden as a file that cannot be read."""
    with pytest.raises(TypeError):
        list(run_jobs(job, (), JOBS, None, 2))


@pytest.mark.parametrize(('engine', 'workers', 'words'), [
    ('spark', None, 'dask, ray'), (3, None, 'dask, ray'), (None, 0, 'workers is 0')])
def test_invalid_engines(engine, workers, words):
    with pytest.raises(DynamicsError, match=words):
        check_engine(engine, workers)


def test_an_engine_that_is_not_installed(monkeypatch):
    monkeypatch.setattr('dynamics_node.data.engines.find_spec', lambda name: None)
    with pytest.raises(DynamicsError, match=r'pip install "dask\[distributed\]"'):
        check_engine('dask', None)


@pytest.mark.parametrize('engine', sorted(MODULES))
def test_engines_write_equal_files(robot, data_set, tmp_path, engine):
    """To the bit, with two workers."""
    if importlib.util.find_spec(MODULES[engine]) is None:
        pytest.skip(f'{engine} is an optional extra: pip install {PACKAGES[engine]}')
    for name in (None, engine):
        annotate(robot, data_set, ['gravity', 'external_torque', 'pose:tool0'],
                 tmp_path / str(name), effort_meaning='motor_torque', engine=name, workers=2)
    files = sorted((tmp_path / 'None').rglob('*.parquet'))
    assert len(files) == 3
    for file in files:
        other = tmp_path / engine / file.relative_to(tmp_path / 'None')
        assert file.read_bytes() == other.read_bytes()
