"""The node `simulated_arm`: a simulated torque-controlled arm on the ROS graph.

    python examples/sim/arm_node.py --ros-args -p mode:=lockstep -p rate:=500.0

Publishes robot_description, joint_states and, in lockstep, /clock. Takes effort commands.
`real_time`: simulated time keeps up with the wall clock, states are stamped with ROS time.
`lockstep`: simulated time stands until the command that was computed from the last state is here.
See README.md beside this file.
"""

import json
import math
import signal
import sys
import time

import numpy as np
import rclpy
from arm import INTEGRATORS, SimulatedArm
from driver import Driver
from geometry_msgs.msg import Vector3, WrenchStamped
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor import Sensor
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

from dynamics_node.example_robots import ARM7
from dynamics_node.model.urdf_text import urdf_text
from dynamics_node.ros import convert
from dynamics_node.ros.rclpy_internals import parameter_overrides
from dynamics_node.ros.spin import spin

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL,
                     reliability=ReliabilityPolicy.RELIABLE)
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
LONGEST_CATCH_UP = 0.1  # [s]; a machine that slept longer lets simulated time fall behind
WATCH = 0.01            # [s] between looks at the deadline in lockstep

# name: (default, meaning, changeable while it runs)
PARAMETERS = {
    'robot_description': (str(ARM7), 'URDF text or path.', False),
    'mode': ('real_time', 'real_time or lockstep.', False),
    'rate': (500.0, 'Joint states per second [Hz]; their period is a whole number of time steps.',
             False),
    'timestep': (0.001, 'Of the simulation [s].', False),
    'integrator': ('rk4', f'One of {", ".join(INTEGRATORS)}.', False),
    'joints': ([], 'Order of the joints in a command; empty: from the root out.', False),
    'command_topic': ('effort_controller/commands', 'Float64MultiArray, in the order of joints.',
                      False),
    'answer_topic': ('dynamics_node/torque',
                     'In lockstep, JointState whose effort answers the joint state of the same '
                     'stamp; empty: each message on command_topic answers the last state.', False),
    'deadline': (0.5, 'In lockstep, wall time after which the held command is used [s].', True),
    'command_timeout': (0.0, 'Simulated time after which the brakes close for want of a command '
                        '[s]; 0: the last command is held for ever.', False),
    'brake': (True, 'Whether the brakes are closed until the first command.', False),
    'initial_position': ([], 'At the start and after ~/reset; empty: zeros [rad or m].', True),
    'gravity': ([0.0, 0.0, -9.81], 'Vector towards the earth in the root frame [m/s^2].', False),
    'damping': (True, 'Whether joints have the damping of the URDF.', False),
    'dry_friction': (True, 'Whether joints have the friction of the URDF.', False),
    'table': (math.nan, 'Height of a table that the last link can touch [m]; nan: none.', False),
    'position_noise': (0.0, 'Standard deviation [rad or m].', False),
    'velocity_noise': (0.0, 'Standard deviation [rad/s or m/s].', False),
    'delay': (0, 'Joint states that a joint state arrives too late.', False),
    'drop': (0.0, 'Probability that a joint state is lost.', False),
    'seed': (0, 'Of noise and losses.', False),
    'payload_at': (-1.0, 'The payload comes this long after the brakes opened [s]; negative: only '
                   'when ~/attach_payload asks for it.', True),
    'payload_mass': (1.0, 'A point mass [kg].', True),
    'payload_frame': ('', 'The link that carries it; empty: the last one.', True),
    'payload_com': ([0.0, 0.0, 0.0], 'Where in that frame [m].', True),
}


class ArmNode(Node):
    """Wires a Driver to topics, and time to the wall clock or to the commands."""

    def __init__(self, **kwargs):
        super().__init__('simulated_arm', **kwargs)
        for name, (default, text, changeable) in PARAMETERS.items():
            # An empty list has no type that a list of names or numbers could be given to.
            self.declare_parameter(name, default, ParameterDescriptor(
                description=text, read_only=not changeable,
                dynamic_typing=isinstance(default, list)))
        urdf = urdf_text(self._get('robot_description'))
        self.driver = self._make_driver(urdf)
        self._substeps = self._whole_number_of_steps()
        self.lockstep = self._one_of('mode', ('real_time', 'lockstep')) == 'lockstep'
        self._deadline = self._get('deadline')
        self._placed = False   # in lockstep: by ~/reset, and no command since
        self._awaited = None   # stamp of the state that no command has answered yet
        self._state = JointState(name=list(self.driver.arm.joint_names))
        self.counts = {'states': 0, 'answers': 0, 'misses': 0, 'retries': 0, 'slips': 0}
        self._check({name: self._get(name) for name in PARAMETERS})
        self._plan_payload()

        description = self.create_publisher(String, 'robot_description', LATCHED)
        description.publish(String(data=urdf))
        self._states = self.create_publisher(JointState, 'joint_states', RELIABLE)
        self._touch = (None if math.isnan(self._get('table')) else
                       self.create_publisher(WrenchStamped, '~/contact_force', RELIABLE))
        if self.lockstep:
            self._clock_out = self.create_publisher(ClockMessage, '/clock', RELIABLE)
        by_stamp = self.lockstep and self._get('answer_topic')
        if by_stamp:
            self.create_subscription(JointState, by_stamp, self._on_answer, BEST_EFFORT)
        else:
            self.create_subscription(Float64MultiArray, self._get('command_topic'),
                                     self._on_command, RELIABLE)
        for action in (self.reset, self.attach_payload, self.detach_payload, self.status):
            self.create_service(Trigger, f'~/{action.__name__}', self._serves(action))
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._use_parameters)

        period = self._substeps * self.driver.arm.timestep
        self._origin, self._published = time.monotonic(), -np.inf
        self.create_timer(max(period, WATCH) if self.lockstep else period,
                          self._watch if self.lockstep else self._keep_up,
                          clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _get(self, name):
        return self.get_parameter(name).value

    def _one_of(self, name, choices):
        if self._get(name) not in choices:
            raise ValueError(f"{name} is '{self._get(name)}'; expected {' or '.join(choices)}")
        return self._get(name)

    def _make_driver(self, urdf):
        arm = SimulatedArm(
            urdf, gravity=self._get('gravity'), damping=self._get('damping'),
            dry_friction=self._get('dry_friction'),
            armature=self._armature(),
            timestep=self._get('timestep'), integrator=self._one_of('integrator', INTEGRATORS),
            table=None if math.isnan(self._get('table')) else self._get('table'))
        arm.set(self._initial(arm))
        return Driver(arm, Sensor(self._get('position_noise'), self._get('velocity_noise'),
                                  self._get('delay'), self._get('drop'), self._get('seed')),
                      self._get('joints'), self._get('command_timeout'), self._get('brake'))

    def _armature(self):
        """Return {joint: rotor inertia x gear ratio^2} of the parameters armature.<joint>."""
        return {name.removeprefix('armature.'): value
                for name, value in parameter_overrides(self).items()
                if name.startswith('armature.')}

    def _initial(self, arm):
        return list(self._get('initial_position')) or np.zeros(arm.n)

    def _check(self, values):
        """Raise what is wrong with parameters that may change while the node runs."""
        arm = self.driver.arm
        q = list(values.get('initial_position', ()))
        if len(q) not in (0, arm.n) or not np.isfinite(q).all():
            raise ValueError(f'initial_position must be {arm.n} finite numbers, or none')
        if values.get('payload_frame', '') not in ('', *arm.link_names):
            raise ValueError(f'payload_frame must be one of {", ".join(arm.link_names)}')
        if not 0.0 <= values.get('payload_mass', 0.0) < np.inf:
            raise ValueError('payload_mass must not be negative')
        com = list(values.get('payload_com', (0.0, 0.0, 0.0)))
        if len(com) != 3 or not np.isfinite(com).all():
            raise ValueError('payload_com must be three finite numbers')

    def _whole_number_of_steps(self):
        steps = 1.0 / (self._get('rate') * self._get('timestep'))
        if steps < 1.0 - 1e-9 or abs(steps - round(steps)) > 1e-9 * steps:
            raise ValueError(f'a period of 1/{self._get("rate"):g} s is {steps:g} time steps; '
                             'expected a whole number')
        return round(steps)

    # Commands --------------------------------------------------------------------------------

    def _on_command(self, message):
        """Keep a command; in lockstep it is for the last state."""
        if self.driver.take_command(message.data):
            self._answered()

    def _on_answer(self, message):
        """Go on if this torque was computed from the last state; else it comes too late."""
        stamp = convert.nanoseconds(message.header.stamp)
        if self.driver.arm.braked or stamp == self._awaited:
            if self.driver.take_named(message.name, message.effort):
                self._answered()
        else:
            self.driver.counts['not for the last state'] += 1

    def _answered(self):
        driver = self.driver
        if not self.lockstep:
            driver.release()
        elif driver.arm.braked:  # the first motion answers a state that follows the command
            self._placed = False
            driver.advance(self._substeps)
            driver.release()
            self._show()
        elif self._awaited is not None:
            self.counts['answers'] += 1
            self._step()

    # Time ------------------------------------------------------------------------------------

    def _keep_up(self):
        """Simulate the wall time that has passed, and show where the arm is now."""
        arm = self.driver.arm
        due = int((time.monotonic() - self._origin) / arm.timestep)
        if due * arm.timestep > LONGEST_CATCH_UP:
            self.counts['slips'] += 1
            due = self._substeps
            self._origin = time.monotonic()
        else:
            self._origin += due * arm.timestep
        if due:
            self.driver.advance(due)
        self._publish(self.get_clock().now().nanoseconds)

    def _watch(self):
        """In lockstep: show a standing arm now and then, and wait no longer than the deadline."""
        waited = time.monotonic() - self._published
        arm = self.driver.arm
        if self._placed and np.array_equal(self._state.position, arm.q):
            self._publish_again()   # time stands: each run starts in the same way
        elif arm.braked:
            self._step()
        elif self._awaited is None:
            self._show()
        elif waited > self._deadline:
            self.counts['misses'] += 1
            self._step()
        elif waited > 0.5 * self._deadline and not self._asked_again:
            self._asked_again = True
            self.counts['retries'] += 1
            self._publish_again()

    def _step(self):
        """In lockstep: go on by one period."""
        self.driver.advance(self._substeps)
        self._show()

    def _show(self):
        """In lockstep: publish a state; without sensor data there is no reply to wait for."""
        while not self._publish() and not self.driver.arm.braked:
            self.driver.advance(self._substeps)

    def _publish(self, stamp=None):
        """Publish the state that is due now; return whether there is one."""
        if self.lockstep:
            self._clock_out.publish(ClockMessage(clock=convert.time(self.driver.now)))
        reading = self.driver.read(stamp)
        if reading is None:
            return False
        state = self._state
        state.header.stamp = convert.time(reading.stamp)
        state.position, state.velocity = convert.floats(reading.q), convert.floats(reading.v)
        state.effort = convert.floats(reading.effort)
        self._awaited, self._published = reading.stamp, time.monotonic()
        self._asked_again = False
        self.counts['states'] += 1
        self._publish_again()
        return True

    def _publish_again(self):
        """Publish the last state."""
        if self._touch is not None:
            self._publish_touch(self._state.header)
        self._states.publish(self._state)

    def _publish_touch(self, header):
        """Publish the force of the table on the tip, in the root's axes."""
        message = WrenchStamped(header=header)
        x, y, z = map(float, self.driver.arm.contact_force)
        message.wrench.force = Vector3(x=x, y=y, z=z)
        self._touch.publish(message)

    # Services and parameters -----------------------------------------------------------------

    def _serves(self, action):
        """Return the callback of a Trigger; an error is the reply."""
        def answer(request, response):
            try:
                response.message, response.success = action() or '', True
            except ValueError as error:
                response.message = str(error)
            return response
        return answer

    def reset(self):
        """Put the arm at initial_position, at rest, brakes closed; time goes on, a load stays.

        In lockstep time stands once the state was published, until the first command.
        """
        self.driver.reset(self._initial(self.driver.arm))
        self._plan_payload()
        self._awaited, self._placed = None, self.driver.arm.braked

    def attach_payload(self):
        """Attach the payload of the parameters now."""
        self.driver.attach(*self._payload())

    def detach_payload(self):
        """Detach the payload."""
        self.driver.detach()

    def status(self):
        """Return as JSON what has happened so far."""
        arm = self.driver.arm
        return json.dumps({
            'time': arm.time, 'moving_for': self.driver.moving_for, 'braked': arm.braked,
            'loads': arm.loads, 'clamped': arm.clamped, 'lost': self.driver.sensor.lost,
            **self.counts, **self.driver.counts})

    def _plan_payload(self):
        at = self._get('payload_at')
        self.driver.plan = (at, *self._payload()) if at >= 0.0 else None

    def _payload(self):
        return (self._get('payload_frame') or self.driver.arm.link_names[-1],
                self._get('payload_mass'), list(self._get('payload_com')))

    def _check_parameters(self, changes):
        try:
            self._check({change.name: change.value for change in changes})
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _use_parameters(self, changes):
        self._deadline = self._get('deadline')
        if any(change.name.startswith('payload') for change in changes):
            self._plan_payload()


def main(args=None):
    """Run the node until SIGINT or SIGTERM."""
    # Not rclpy's own handlers: they shut the context down while a callback publishes, and raise
    # KeyboardInterrupt in it. The timer lets Python handle a signal soon.
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    stop = Future()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set_result(None))
    try:
        node = ArmNode()
    except ValueError as error:
        rclpy.try_shutdown()
        sys.exit(f'simulated_arm: {error}')
    try:
        spin(node, until=stop)
    except ArithmeticError as error:
        sys.exit(f'simulated_arm: {error}')
    finally:
        print(f'simulated_arm: {node.status()}', flush=True)
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
