"""Compute dynamics by MuJoCo, in the coordinates of dynamics_node.

MuJoCo's free joint moves with (linear velocity in world axes, angular velocity in body axes), ours
with the body twist: v_mj = G(q) v, hence a_mj = G a + (dG/dt) v. As for Pinocchio, every mimic
joint is a degree of freedom of its own, which G ties to its master. Links stay bodies.
"""

from xml.etree import ElementTree

import mujoco
import numpy as np

from support.oracle_agreement import each_state
from support.real_robots import BASE

IRRELEVANT = {'robot': ('material', 'transmission', 'gazebo', 'mujoco'),
              'link': ('visual', 'collision'), 'joint': ('limit', 'mimic', 'safety_controller')}
# The inertias as they are written, or a refusal; no fusing, so that every link keeps its name.
COMPILER = {'balanceinertia': 'false', 'boundmass': '0', 'boundinertia': '0',
            'fusestatic': 'false', 'discardvisual': 'false'}


class MujocoOracle:
    """Results for a batch of states, in the order of `joint_names`."""

    def __init__(self, example, joint_names, damping=False, edit=lambda spec: None):
        self.model = _compile(example, damping, edit)
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        self.data = mujoco.MjData(self.model)
        self.mimics = example.mimics()
        self.names = [name for name in joint_names if name in self.mimics]
        self.nq, self.nv = BASE[example.base]

    # Coordinates -----------------------------------------------------------------------------

    def _set(self, q, v=None):
        """Move MuJoCo to the state; return the map G of velocities and its rate."""
        base, joints = q[:self.nq], q[self.nq:]
        G = np.zeros((self.model.nv, self.nv + len(self.names)))
        rate = np.zeros_like(G)
        if self.nq:
            self.data.qpos[:7] = [*base[:3], base[6], *base[3:6]]
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, self.data.qpos[3:7])
            G[:3, :3], G[3:6, 3:6] = R.reshape(3, 3), np.eye(3)
            if v is not None:  # dR/dt = R [w]
                rate[:3, :3] = np.cross(R.reshape(3, 3), v[3:6])
        for name, (master, ratio, offset) in self.mimics.items():
            joint, column = self.model.joint(name), self.names.index(master)
            self.data.qpos[joint.qposadr[0]] = ratio * joints[column] + offset
            G[joint.dofadr[0], self.nv + column] = ratio
        self.data.qvel[:] = 0.0 if v is None else G @ v
        return G, rate

    # Dynamics --------------------------------------------------------------------------------

    @each_state
    def inverse_dynamics(self, q, v, a):
        G, rate = self._set(q, v)
        self.data.qacc[:] = G @ a + rate @ v
        mujoco.mj_inverse(self.model, self.data)
        return G.T @ self.data.qfrc_inverse

    @each_state
    def forward_dynamics(self, q, v, tau, wrenches=(), frames=()):
        """By MuJoCo's solve; where joints share a coordinate, by the projected equation."""
        G, rate = self._set(q, v)
        applied = np.linalg.pinv(G.T) @ tau
        mujoco.mj_fwdPosition(self.model, self.data)
        for wrench, name in zip(wrenches, frames):
            self._push(wrench, name, applied)
        self.data.qfrc_applied[:] = applied
        mujoco.mj_forward(self.model, self.data)
        self.data.qfrc_applied[:] = 0.0
        if G.shape[0] == G.shape[1]:
            return np.linalg.solve(G, self.data.qacc - rate @ v)
        M = self._full_mass_matrix()
        rest = applied - self.data.qfrc_bias - M @ rate @ v
        return np.linalg.solve(G.T @ M @ G, G.T @ rest)

    def _push(self, wrench, name, applied):
        """Add the generalised force of a (force, torque) at the frame's origin, in its axes."""
        body = self.data.body(name)
        R = body.xmat.reshape(3, 3)
        mujoco.mj_applyFT(self.model, self.data, R @ wrench[:3], R @ wrench[3:], body.xpos,
                          body.id, applied)

    def _full_mass_matrix(self):
        """Column by column: MuJoCo's sparse storage of M differs between its versions."""
        M = np.zeros((self.model.nv, self.model.nv))
        for column, unit in zip(M, np.eye(self.model.nv)):
            mujoco.mj_mulM(self.model, self.data, column, unit)
        return M.T

    @each_state
    def mass_matrix(self, q):
        G, _ = self._set(q)
        mujoco.mj_forward(self.model, self.data)
        return G.T @ self._full_mass_matrix() @ G

    @each_state
    def gravity_torque(self, q):
        G, _ = self._set(q)
        mujoco.mj_forward(self.model, self.data)
        return G.T @ self.data.qfrc_bias

    @each_state
    def bias_torque(self, q, v):
        """At zero acceleration in our coordinates, where MuJoCo's is (dG/dt) v."""
        G, rate = self._set(q, v)
        mujoco.mj_forward(self.model, self.data)
        return G.T @ (self.data.qfrc_bias + self._full_mass_matrix() @ rate @ v)

    @each_state
    def damping_torque(self, q, v):
        G, _ = self._set(q, v)
        mujoco.mj_forward(self.model, self.data)
        return -G.T @ self.data.qfrc_passive

    # Energy and kinematics: MuJoCo too counts the links that are fixed to the world ------------

    @each_state
    def energies(self, q, v):
        """Return (potential, kinetic)."""
        self._set(q, v)
        mujoco.mj_forward(self.model, self.data)
        return self.data.energy

    @each_state
    def center_of_mass(self, q):
        self._set(q)
        mujoco.mj_forward(self.model, self.data)
        return self.data.subtree_com[0]

    @each_state
    def momentum(self, q, v):
        self._set(q, v)
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_subtreeVel(self.model, self.data)
        mass = self.model.body_subtreemass[0]
        return np.concatenate([mass * self.data.subtree_linvel[0], self.data.subtree_angmom[0]])

    @each_state
    def frame_poses(self, q, frames):
        self._set(q)
        mujoco.mj_forward(self.model, self.data)
        bodies = [self.data.body(name) for name in frames]
        return [np.block([[body.xmat.reshape(3, 3), body.xpos[:, None]],
                          [np.zeros(3), 1.0]]) for body in bodies]

    @each_state
    def jacobians(self, q, frames):
        G, _ = self._set(q)
        mujoco.mj_forward(self.model, self.data)
        return [self._jacobian(name) @ G for name in frames]

    def _jacobian(self, name):
        J = np.zeros((6, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, J[:3], J[3:], self.data.body(name).id)
        return J

    @each_state
    def jacobian_rates(self, q, v, frames):
        G, rate = self._set(q, v)
        mujoco.mj_forward(self.model, self.data)
        results = []
        for name in frames:
            body, J_rate = self.data.body(name), np.zeros((6, self.model.nv))
            mujoco.mj_jacDot(self.model, self.data, J_rate[:3], J_rate[3:], body.xpos, body.id)
            results.append(J_rate @ G + self._jacobian(name) @ rate)
        return results


def _compile(example, damping, edit):
    """Return the MjModel of a URDF: no shapes, no limits, damping and friction on request.

    :param edit: called with the MjSpec before it is compiled.
    """
    root = example.xml()
    for tag, parts in IRRELEVANT.items():
        for element in root.iter(tag):
            _cut(element, parts if damping or tag != 'joint' else (*parts, 'dynamics'))
    ElementTree.SubElement(ElementTree.SubElement(root, 'mujoco'), 'compiler', COMPILER)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding='unicode'))
    if example.base == 'floating':
        children = {child.get('link') for child in root.findall('joint/child')}
        base = next(link.get('name') for link in root.findall('link')
                    if link.get('name') not in children)
        spec.body(base).add_freejoint()
    edit(spec)
    return spec.compile()


def _cut(element, tags):
    for part in [part for part in element if part.tag in tags]:
        element.remove(part)
