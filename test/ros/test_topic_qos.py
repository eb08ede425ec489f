"""Test the QoS overrides of every topic, in each of the processes, and when odom is received."""

from rclpy.qos import ReliabilityPolicy
from support.remote_node import wait_until

from dynamics_node.example_robots import ARM7
from dynamics_node.ros.topic_qos import PUBLISHED, SUBSCRIBED, TORQUE, overridable

SPACE = '/quality'
BASE = ('odom', 'base_pose', 'base_twist')


def full(topic):
    """Return the name of a topic in the graph."""
    return topic.replace('~', f'{SPACE}/dynamics_node') if topic[0] == '~' else (
        topic if topic[0] == '/' else f'{SPACE}/{topic}')


def override(topic, kind, qos=None):
    """Return the parameter that turns the reliability of a topic round."""
    best = qos is not None and qos.reliability == ReliabilityPolicy.BEST_EFFORT
    value = 'reliable' if best else 'best_effort'
    return f'qos_overrides.{full(topic)}.{kind}.reliability:={value}'


def test_the_profile_of_a_topic_is_never_changed():
    """The library writes overrides into the profile that it is given."""
    assert overridable(TORQUE)['qos_profile'] is not TORQUE
    assert overridable(TORQUE)['qos_profile'] == TORQUE


def test_the_qos_of_every_topic_can_be_overridden(launch):
    """Also of those of the torque process and of the watchdog."""
    published = {**PUBLISHED, 'commands': TORQUE, '~/markers': None, '/diagnostics': None}
    subscribed = {**SUBSCRIBED, '~/external_wrench': SUBSCRIBED['odom'], 'robot_description': None}
    for topic in BASE[1:]:
        del subscribed[topic]   # of another base_state
    node = launch(f'robot_description:={ARM7}', 'torque.command_topic:=commands', 'base:=floating',
                  *(override(topic, 'publisher', qos) for topic, qos in published.items()),
                  *(override(topic, 'subscription', qos) for topic, qos in subscribed.items()),
                  namespace=SPACE)
    assert node.call('model_report').success
    for topics, infos in ((published, node.client.get_publishers_info_by_topic),
                          (subscribed, node.client.get_subscriptions_info_by_topic)):
        for topic, qos in topics.items():
            best = qos is not None and qos.reliability == ReliabilityPolicy.BEST_EFFORT
            wanted = ReliabilityPolicy.RELIABLE if best else ReliabilityPolicy.BEST_EFFORT
            found = wait_until(lambda topic=topic, infos=infos: [
                info.qos_profile.reliability for info in infos(full(topic))
                if info.node_namespace == SPACE], topic)
            assert set(found) == {wanted}, topic
    assert len(node.client.get_publishers_info_by_topic(full('~/torque'))) == 2   # and the watchdog


def test_odom_is_subscribed_to_with_a_floating_base_only(launch):
    """It follows the parameter."""
    node = launch(f'robot_description:={ARM7}')
    topic = f'{node.namespace}/odom'
    assert node.call('model_report').success
    assert node.client.count_subscribers(topic) == 0
    assert node.set_parameters({'base': 'floating'}) == ''
    wait_until(lambda: node.client.count_subscribers(topic) == 2, 'both processes')
    assert node.set_parameters({'base': 'fixed'}) == ''
    wait_until(lambda: node.client.count_subscribers(topic) == 0, 'none')
