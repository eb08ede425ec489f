"""Test caps: one parameter each, one message, lower ones while torques are enabled."""

import pytest

from dynamics_node import DynamicsError
from dynamics_node.ros.parameters.caps import (
    DEFAULT_CAPS,
    WITH_TORQUES,
    CapExceeded,
    Caps,
    caps_of,
)
from dynamics_node.ros.parameters.declared import DECLARED
from dynamics_node.ros.parameters.model_size import ModelSizeParameters
from dynamics_node.ros.parameters.service import ServiceParameters

TORQUES = Caps({'service.max_states': 100, 'service.max_states_with_torques': 10,
                'service.max_targets': 5}, True)


def test_every_cap_is_a_declared_parameter():
    """With its default; the ones that count nothing are no caps."""
    assert {name: DECLARED[name].default for name in DEFAULT_CAPS.most} == DEFAULT_CAPS.most
    assert 'service.max_targets' in DEFAULT_CAPS.most and 'model.max_joints' in DEFAULT_CAPS.most
    assert 'service.max_duration' not in DEFAULT_CAPS.most
    assert 'service.workers' not in DEFAULT_CAPS.most


def test_caps_with_torques_are_lower_by_default():
    """Each has a partner."""
    lower = [name for name in DEFAULT_CAPS.most if name.endswith(WITH_TORQUES)]
    assert lower == ['service.max_states_with_torques', 'service.max_reply_with_torques']
    for name in lower:
        assert DEFAULT_CAPS.most[name] < DEFAULT_CAPS.most[name.removesuffix(WITH_TORQUES)]


def test_a_count_above_its_cap_is_refused_with_both_and_the_parameter():
    """The cap itself is accepted."""
    caps = caps_of(ServiceParameters(max_targets=100), ModelSizeParameters(max_joints=7))
    caps.check('service.max_targets', 100, 'targets')
    with pytest.raises(DynamicsError) as error:
        caps.check('service.max_targets', 3000, 'targets')
    assert str(error.value) == 'targets: 3000, at most 100 (service.max_targets)'
    assert error.value.parameter == 'service.max_targets'
    with pytest.raises(DynamicsError, match=r'^joints: 8, at most 7 \(model\.max_joints\)$'):
        caps.check('model.max_joints', 8, 'joints')


def test_while_torques_are_enabled_the_lower_cap_applies_too():
    """Only where there is one; the other one still applies."""
    TORQUES.check('service.max_states', 10, 'states')
    with pytest.raises(CapExceeded, match=r'11, at most 10 \(service\.max_states_with_torques\)'):
        TORQUES.check('service.max_states', 11, 'states')
    with pytest.raises(CapExceeded, match=r'at most 100 \(service\.max_states\)'):
        TORQUES.check('service.max_states', 101, 'states')
    TORQUES._replace(torques=False).check('service.max_states', 100, 'states')
    TORQUES.check('service.max_targets', 5, 'targets')
