"""Compute dynamics by Pinocchio, in the coordinates of dynamics_node.

Pinocchio sorts joints by its own rules, writes continuous joints as (cos, sin), and has a degree of
freedom per mimic joint. With v_pin = G v the translation is G' tau_pin, G' M_pin G and J_pin G.
G and the offsets come from the joint names and the URDF's XML, not from dynamics_node's model.
"""

import numpy as np
import pinocchio as pin

from support.oracle_agreement import each_state
from support.real_robots import BASE

WORLD_AXES, LOCAL = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, pin.ReferenceFrame.LOCAL


class PinocchioOracle:
    """Results for a batch of states, in the order of `joint_names`.

    :param mimic: use Pinocchio's own mimic joints instead of the projection by G.
    """

    def __init__(self, example, joint_names, mimic=False):
        free = (pin.JointModelFreeFlyer(),) if example.base == 'floating' else ()
        self.model = pin.buildModelFromXML(example.text(), *free, mimic=mimic)
        self.mimics = example.mimics()
        self.names = [name for name in joint_names if name in self.mimics]
        self.nq, self.nv = BASE[example.base]
        self.G = self._velocity_map()
        self.ready()

    def ready(self):
        """Update the data after a change of the model."""
        self.data = self.model.createData()

    def lock(self, positions):
        """Lock these independent joints, and those that mimic them, at their positions."""
        self.names = [name for name in self.names if name not in positions]
        for name, (master, ratio, offset) in self.mimics.items():
            if master in positions:  # follows a free joint at the ratio zero: it stays
                self.mimics[name] = self.names[0], 0.0, ratio * positions[master] + offset
        self.G = self._velocity_map()

    def _joints(self):
        """Yield (Pinocchio's joint, column in ours, ratio, offset) of what moves by itself."""
        for name, joint in zip(self.model.names, self.model.joints):
            if name in self.mimics and joint.nv:
                master, ratio, offset = self.mimics[name]
                yield joint, self.names.index(master), ratio, offset

    def _velocity_map(self):
        G = np.zeros((self.model.nv, self.nv + len(self.names)))
        G[:self.nv, :self.nv] = np.eye(self.nv)
        for joint, column, ratio, _ in self._joints():
            G[joint.idx_v, self.nv + column] = ratio
        return G

    @property
    def reduced(self):
        """Whether some joints share a coordinate."""
        return self.G.shape[0] != self.G.shape[1]

    def configuration(self, q):
        """Return Pinocchio's q."""
        result = pin.neutral(self.model)
        result[:self.nq] = q[:self.nq]
        for joint, column, ratio, offset in self._joints():
            angle = ratio * q[self.nq + column] + offset
            result[joint.idx_q:joint.idx_q + joint.nq] = (
                angle if joint.nq == 1 else (np.cos(angle), np.sin(angle)))
        return result

    # Dynamics --------------------------------------------------------------------------------

    @each_state
    def inverse_dynamics(self, q, v, a):
        return self.G.T @ pin.rnea(self.model, self.data, self.configuration(q),
                                   self.G @ v, self.G @ a)

    @each_state
    def forward_dynamics(self, q, v, tau):
        """By articulated bodies; where mimic joints are projected, by the projected equation."""
        q = self.configuration(q)
        if self.reduced or self._has_mimic_joints():
            bias = self.G.T @ pin.nonLinearEffects(self.model, self.data, q, self.G @ v)
            return np.linalg.solve(self._mass_matrix(q), tau - bias)
        return self.G.T @ pin.aba(self.model, self.data, q, self.G @ v, self.G @ tau)

    def _has_mimic_joints(self):
        return self.model.nv != self.model.nvExtended

    @each_state
    def inverse_dynamics_under(self, q, v, a, wrenches, frames):
        """Under a (force, torque) at the origin of each frame, in its axes."""
        return self.G.T @ pin.rnea(self.model, self.data, self.configuration(q), self.G @ v,
                                   self.G @ a, self._joint_forces(wrenches, frames))

    @each_state
    def forward_dynamics_under(self, q, v, tau, wrenches, frames):
        """Under a (force, torque) at the origin of each frame, in its axes."""
        q, forces = self.configuration(q), self._joint_forces(wrenches, frames)
        if self.reduced:
            rest = np.zeros(self.model.nv)
            bias = pin.rnea(self.model, self.data, q, self.G @ v, rest, forces)
            return np.linalg.solve(self._mass_matrix(q), tau - self.G.T @ bias)
        return self.G.T @ pin.aba(self.model, self.data, q, self.G @ v, self.G @ tau, forces)

    def _joint_forces(self, wrenches, frames):
        forces = [pin.Force.Zero() for _ in self.model.joints]
        for wrench, name in zip(wrenches, frames):
            frame = self.model.frames[self.frame(name)]
            forces[frame.parentJoint] += frame.placement.act(pin.Force(wrench))
        return forces

    def _mass_matrix(self, q):
        upper = np.triu(pin.crba(self.model, self.data, q))
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    @each_state
    def mass_matrix(self, q):
        return self._mass_matrix(self.configuration(q))

    @each_state
    def mass_matrix_inverse(self, q):
        """By articulated bodies: for tiago's wrist, condition number 5e6, good to 4e-10."""
        q = self.configuration(q)
        if self.reduced:
            return np.linalg.inv(self._mass_matrix(q))
        upper = np.triu(pin.computeMinverse(self.model, self.data, q))
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    @each_state
    def coriolis_matrix(self, q, v):
        """The Christoffel one; a constant G keeps it so."""
        return self.G.T @ pin.computeCoriolisMatrix(
            self.model, self.data, self.configuration(q), self.G @ v) @ self.G

    @each_state
    def gravity_torque(self, q):
        return self.G.T @ pin.computeGeneralizedGravity(
            self.model, self.data, self.configuration(q))

    @each_state
    def bias_torque(self, q, v):
        return self.G.T @ pin.nonLinearEffects(
            self.model, self.data, self.configuration(q), self.G @ v)

    @each_state
    def friction_torque(self, v):
        """Damping and Coulomb friction as Pinocchio has read them; it does not apply them."""
        speed = self.G @ v
        dry = self.model.upperDryFrictionLimit * np.sign(speed)
        return self.G.T @ (self.model.damping * speed + dry)

    # Energy and kinematics: Pinocchio leaves out what is fixed to the world -------------------

    @each_state
    def kinetic_energy(self, q, v):
        return pin.computeKineticEnergy(self.model, self.data, self.configuration(q), self.G @ v)

    @each_state
    def potential_energy(self, q):
        ground = self.model.inertias[0]
        moving = pin.computePotentialEnergy(self.model, self.data, self.configuration(q))
        return moving - ground.mass * self.model.gravity.linear @ ground.lever

    @each_state
    def center_of_mass(self, q):
        return self._centers_of_mass(self.configuration(q))[1]

    def _centers_of_mass(self, q):
        """Return those of the moving links and of all links."""
        moving = pin.centerOfMass(self.model, self.data, q).copy()
        mass, ground = self.data.mass[0], self.model.inertias[0]
        return moving, (mass * moving + ground.mass * ground.lever) / (mass + ground.mass)

    @each_state
    def momentum(self, q, v):
        """About the centre of mass of all links."""
        q = self.configuration(q)
        moving, all_links = self._centers_of_mass(q)
        h = pin.computeCentroidalMomentum(self.model, self.data, q, self.G @ v)
        return np.concatenate([h.linear, h.angular + np.cross(moving - all_links, h.linear)])

    def frame(self, name):
        """Return the number of a link's frame."""
        return self.model.getFrameId(name, pin.FrameType.BODY)

    @each_state
    def frame_poses(self, q, frames):
        pin.framesForwardKinematics(self.model, self.data, self.configuration(q))
        return [self.data.oMf[self.frame(name)].homogeneous for name in frames]

    @each_state
    def frame_twists(self, q, v, frames):
        pin.forwardKinematics(self.model, self.data, self.configuration(q), self.G @ v)
        return [pin.getFrameVelocity(self.model, self.data, self.frame(name), WORLD_AXES).vector
                for name in frames]

    @each_state
    def jacobians(self, q, frames, local=False):
        axes = LOCAL if local else WORLD_AXES
        pin.computeJointJacobians(self.model, self.data, self.configuration(q))
        pin.updateFramePlacements(self.model, self.data)
        return [pin.getFrameJacobian(self.model, self.data, self.frame(name), axes) @ self.G
                for name in frames]

    @each_state
    def jacobian_rates(self, q, v, frames, local=False):
        axes = LOCAL if local else WORLD_AXES
        pin.computeJointJacobiansTimeVariation(
            self.model, self.data, self.configuration(q), self.G @ v)
        pin.updateFramePlacements(self.model, self.data)
        return [pin.getFrameJacobianTimeVariation(
            self.model, self.data, self.frame(name), axes) @ self.G for name in frames]

    @each_state
    def integrate(self, q, v):
        """Return Pinocchio's q after one second."""
        return pin.integrate(self.model, self.configuration(q), self.G @ v)
