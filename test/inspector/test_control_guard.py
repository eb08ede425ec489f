"""Test the guard of the controls: one client at a time, locked after wrong codes."""

from dynamics_node.inspector.control_guard import LOCKED, TRIES, ControlGuard, new_code


def test_a_code_opens_the_controls_to_the_client_that_has_typed_it():
    guard = ControlGuard('right')
    assert 'no code' in guard.refusal(1, '')
    assert guard.refusal(1, 'right') == '' and guard.refusal(1, '') == ''
    assert 'no code' in guard.refusal(2, '')


def test_wrong_codes_of_all_clients_lock_the_controls():
    """The right code is then refused too; an opened client can still disable torques."""
    guard = ControlGuard('right')
    assert guard.refusal(1, 'right') == ''
    for client in range(TRIES - 1):
        assert 'the code is wrong' in guard.refusal(client + 2, 'rihgt\ud800')
    assert guard.refusal(9, 'wrong') == LOCKED
    assert guard.refusal(9, 'right') == guard.refusal(9, 'right', disables=True) == LOCKED
    assert guard.refusal(1, '') == LOCKED
    assert guard.refusal(1, '', disables=True) == ''


def test_codes_are_long_and_differ():
    codes = {new_code() for _ in range(50)}
    assert len(codes) == 50 and all(len(code) >= 10 for code in codes)
