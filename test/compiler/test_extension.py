"""Test that an extension of other sources is not used."""

import importlib

import pytest

from dynamics_node.compiler import _call, ctypes_call, extension
from dynamics_node.robot import dispatch


def test_the_extension_belongs_to_its_sources():
    assert _call.VERSION == extension.VERSION
    assert dispatch.Caller is _call.Caller is not ctypes_call.Caller


@pytest.mark.parametrize('version', [None, 0, extension.VERSION + 1])
def test_an_extension_of_other_sources_is_an_import_error(monkeypatch, version):
    """The caller of ctypes is used then; an old extension has no version."""
    with monkeypatch.context() as patch:
        if version is None:
            patch.delattr(_call, 'VERSION')
        else:
            patch.setattr(_call, 'VERSION', version)
        with pytest.raises(ImportError, match='VERSION|build the package again'):
            importlib.reload(extension)
    importlib.reload(extension)
