"""Simulate a quadruped on the ground in MuJoCo, from the URDF that Robot reads.

    quadruped = SimulatedQuadruped(urdf, feet=('FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT'))
    quadruped.set(q)
    quadruped.step(torque)

States are as `Robot` has them, base first: position and quaternion x y z w, body twist. The feet
are points that the ground carries with friction; nothing else touches anything.
"""

import mujoco
import numpy as np
from mujoco_model import force_of_ground, let_touch, read_spec

POINT = 1e-4   # [m] radius of a foot: a ball that rolls no further than that is as good as a point


class SimulatedQuadruped:
    """A legged robot under torque, its joints in the order of MuJoCo's tree.

    :ivar joint_names: that order.
    :ivar feet: names of the links that touch the ground, z = 0, with their origin.
    """

    def __init__(self, urdf, feet, friction=0.7, timestep=1e-3):
        """Load a URDF, text or path; friction is the coefficient of the ground."""
        self.feet, self.timestep = tuple(feet), timestep
        self.model = standing_spec(urdf, feet, friction, timestep).compile()
        self.data = mujoco.MjData(self.model)
        self.joint_names = tuple(self.model.joint(k).name for k in range(1, self.model.njnt))
        self._bodies = [self.model.body(foot).id for foot in self.feet]

    def set(self, q):
        """Set the configuration; velocities are zero."""
        self.data.qpos[:] = [*q[:3], q[6], *q[3:6], *q[7:]]
        self.data.qvel[:] = 0.0
        mujoco.mj_forward(self.model, self.data)

    @property
    def q(self):
        x = self.data.qpos
        return np.concatenate([x[:3], x[4:7], x[3:4], x[7:]])

    @property
    def v(self):
        """MuJoCo has the linear velocity of the base in world axes, the angular in its own."""
        R, v = np.zeros(9), self.data.qvel
        mujoco.mju_quat2Mat(R, self.data.qpos[3:7])
        return np.concatenate([R.reshape(3, 3).T @ v[:3], v[3:]])

    def step(self, torque, n=1):
        """Apply torques of the joints (nv,), those of the base left out, for n time steps."""
        self.data.qfrc_applied[6:] = torque[6:]
        mujoco.mj_step(self.model, self.data, nstep=n)

    def foot_positions(self):
        """Return the positions of the feet, (4, 3) [m]."""
        return self.data.xpos[self._bodies]

    def foot_forces(self):
        """Return the force of the ground on each foot, in world axes, (4, 3) [N]."""
        return np.array([force_of_ground(self.model, self.data, foot) for foot in self.feet])


def standing_spec(urdf, feet, friction, timestep):
    """Return the MjSpec of a robot that stands free on the ground."""
    spec = read_spec(urdf)
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.worldbody.first_body().add_freejoint()
    for foot in feet:
        let_touch(spec, foot, friction, POINT)
    return spec
