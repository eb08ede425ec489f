"""Test the detection of joints that two publishers have, by the numbers of their messages."""

import numpy as np
import pytest

from dynamics_node.ros.state.joint_publishers import MOST_LISTS, WINDOW, JointPublishers

ARM, GRIPPER = ('joint_1', 'joint_2', 'joint_3'), ('finger',)
ALL = (*ARM, *GRIPPER)


class Topic:
    """Messages of several publishers, each of which numbers its own."""

    def __init__(self, joints=ALL):
        self.now, self.numbers = 100.0, {}
        self.publishers = JointPublishers(lambda: self.now)
        self.publishers.watch(joints)

    def send(self, publisher, names, count=1, lost=0):
        """Send messages; return whether all numbers increased."""
        good = True
        for _ in range(count):
            self.numbers[publisher] = self.numbers.get(publisher, 0) + 1 + lost
            good &= self.publishers.note(names, self.numbers[publisher])
            self.now += 0.01
        return good

    def disputed(self, times=2):
        return self.publishers.disputed(times)


def test_one_publisher_is_no_dispute():
    """Also if messages are lost, and with another list of names in between."""
    topic = Topic()
    assert topic.send('driver', ARM, 50) and topic.send('driver', ARM, 20, lost=3)
    for _ in range(20):
        assert topic.send('driver', ALL) and topic.send('driver', ARM)
    assert not topic.disputed(1)


def test_an_arm_and_a_gripper_are_no_dispute():
    topic = Topic()
    topic.send('driver', ARM, 500)
    for _ in range(50):
        assert topic.send('driver', ARM, 3) and topic.send('gripper', GRIPPER)
    assert not topic.disputed(1)


def test_three_publishers_of_parts_are_no_dispute():
    topic = Topic()
    for _ in range(30):
        for k, name in enumerate(ALL):
            assert topic.send(name, (name,), k + 1)
    assert not topic.disputed(1)


@pytest.mark.parametrize('names', [ARM, ARM[::-1], ARM[:1], ALL],
                         ids=['same names', 'another order', 'one joint', 'all joints'])
@pytest.mark.parametrize('ahead', [0, 1, 7, 5000])
@pytest.mark.parametrize('every', [1, 10, 100])
def test_a_second_publisher_is_found(names, ahead, every):
    """However often it publishes, and whichever number is greater; by its second message."""
    topic = Topic()
    topic.send('driver', ARM, 20)
    topic.numbers['intruder'] = ahead
    for _ in range(2):
        topic.send('intruder', names)
        topic.send('driver', ARM, every)
    topic.send('intruder', names)
    assert set(ARM[:1]) <= set(topic.disputed())


def test_a_restarted_publisher_is_one_step_back():
    """Its numbers begin anew, and later pass the last ones before."""
    topic = Topic()
    topic.send('driver', ARM, 100)
    topic.numbers['driver'] = 0
    assert not topic.send('driver', ARM)
    assert topic.disputed(1) == sorted(ARM) and not topic.disputed()
    assert topic.send('driver', ARM, 300) and not topic.disputed()


def test_restarts_far_apart_are_no_dispute():
    topic = Topic()
    for _ in range(3):
        topic.send('driver', ARM, 10)
        topic.numbers['driver'], topic.now = 0, topic.now + WINDOW
        assert not topic.disputed()


def test_a_dispute_ends_some_time_after_the_second_publisher():
    """The publishers of parts are no dispute then, though a third one had all joints."""
    topic = Topic()
    for _ in range(5):
        topic.send('driver', ARM, 3)
        topic.send('gripper', GRIPPER)
        topic.send('all', ALL)
    assert topic.disputed() == sorted(ALL)
    for _ in range(200):
        topic.send('driver', ARM, 3)
        topic.send('gripper', GRIPPER)
    assert topic.now > 100.0 + WINDOW and not topic.disputed(1)


def test_joints_that_do_not_count_are_no_dispute():
    """Not those of another robot, nor before there is a robot."""
    for joints in ((), ('elbow',)):
        topic = Topic(joints)
        for _ in range(5):
            assert topic.send('driver', ARM) and topic.send('intruder', ARM)
        assert not topic.disputed(1)


def test_a_middleware_without_numbers_is_no_dispute():
    publishers = Topic().publishers
    assert all(publishers.note(ARM, None) for _ in range(10))
    assert not publishers.disputed(1)


def test_lists_that_change_for_ever_need_bounded_memory():
    topic, rng = Topic(), np.random.default_rng(0)
    for k in range(5 * MOST_LISTS):
        assert topic.send('driver', (f'other_{k}', *rng.permutation(ARM).tolist()))
    assert len(topic.publishers._lists) <= MOST_LISTS and not topic.disputed(1)
