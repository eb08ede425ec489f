"""Call the services of a running node from Python, with arrays instead of messages.

In one terminal:   ros2 run dynamics_node dynamics_node --ros-args -p robot_description:=arm.urdf
In another:        python examples/ask_the_node.py
"""

import numpy as np
import rclpy

from dynamics_node.ros import DynamicsClient


def main():
    rclpy.init()
    node = rclpy.create_node('ask_the_node')
    dynamics = DynamicsClient(node)
    try:
        report = dynamics.model_report()
        print(f'{report.robot}: {len(report.joint_names)} joints, {report.total_mass:.4g} kg')
        n = len(report.joint_names)
        q, v = np.full(n, 0.3), np.zeros(n)

        terms = dynamics.dynamics_terms(q=q, v=v)
        print('gravity torque [N m]:', terms.gravity.round(3))
        print('M is', terms.mass_matrix.shape, 'and', 'symmetric' if np.allclose(
            terms.mass_matrix, terms.mass_matrix.T) else 'not symmetric')

        last = report.frame_names[-1]
        dynamics.set_payload('cup', last, mass=0.5)
        loaded = dynamics.inverse_dynamics(q=q, v=v).effort
        dynamics.remove_payload('cup')
        print(f'0.5 kg at {last} take [N m]:', (loaded - terms.gravity).round(3))
    finally:
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
