"""Compute robots with loops or contacts by Pinocchio, in the coordinates of dynamics_node.

The tree is Pinocchio's own reading of the same URDF, the closures are placed on its own joints.
Pinocchio sorts joints by its own rules and writes continuous joints as (cos, sin); both are
translated by joint names. It holds frame `c2` to frame `c1` and gives the force on c1: our
frame 2 is therefore its c1.
"""

import numpy as np
import pinocchio as pin

# A planar loop held in all three directions is one row too many, so the solver is proximal:
# lambda is iterated until it changes by less than ACCURACY, in steps of 1/MU.
ACCURACY, MU, ITERATIONS = 1e-14, 1e-8, 50
KINDS = {'spherical': pin.ContactType.CONTACT_3D, 'point_contact': pin.ContactType.CONTACT_3D,
         'weld': pin.ContactType.CONTACT_6D, 'flat_contact': pin.ContactType.CONTACT_6D}


class PinocchioLoops:
    """A tree with constraints of ours.

    :param model: ours, of which only the joints' names, kinds and places in q and v are read.
    """

    def __init__(self, urdf, model, base='fixed'):
        free = (pin.JointModelFreeFlyer(),) if base == 'floating' else ()
        self.model = pin.buildModelFromUrdf(str(urdf), *free)
        self.data = self.model.createData()
        self.joints = [(joint, self.model.joints[self._joint_id(joint.name)])
                       for joint in model.joints]
        assert sum(theirs.nv for _, theirs in self.joints) == self.model.nv

    def _joint_id(self, name):
        return self.model.getJointId(name if self.model.existJointName(name) else 'root_joint')

    def configuration(self, q):
        """Return Pinocchio's q."""
        result = pin.neutral(self.model)
        for ours, theirs in self.joints:
            values = q[ours.q]
            if theirs.nq == 2:  # unbounded: cos, sin
                values = np.cos(values[0]), np.sin(values[0])
            result[theirs.idx_q:theirs.idx_q + theirs.nq] = values
        return result

    def velocity(self, v):
        """Return Pinocchio's v, or a, or tau."""
        result = np.zeros(self.model.nv)
        for ours, theirs in self.joints:
            result[theirs.idx_v:theirs.idx_v + theirs.nv] = v[ours.v]
        return result

    def back(self, v):
        """Return our v, or a, or tau."""
        return np.concatenate([v[theirs.idx_v:theirs.idx_v + theirs.nv]
                               for _, theirs in self.joints])

    def place(self, link, pose):
        """Return (joint, placement) of a closure on a link."""
        at = pin.SE3.Identity()
        if pose:
            x, y, z, w = pose[3:]
            at = pin.SE3(pin.Quaternion(w, x, y, z).matrix(), np.array(pose[:3]))
        if link == 'world':
            return 0, at
        frame = self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)]
        return frame.parentJoint, frame.placement * at

    def forward(self, q, v, tau, constraints):
        """Return (a, forces on frame 2 in frame 1's axes, those of a constraint linear first)."""
        held = pin.StdVec_RigidConstraintModel()
        for constraint in constraints:
            one = self.place(constraint.to, constraint.to_pose)
            held.append(pin.RigidConstraintModel(
                KINDS[constraint.kind], self.model, *self.place(constraint.frame, constraint.pose),
                *one, pin.ReferenceFrame.LOCAL))
        found = pin.StdVec_RigidConstraintData()
        for model in held:
            found.append(model.createData())
        pin.initConstraintDynamics(self.model, self.data, held, found)
        a = pin.constraintDynamics(
            self.model, self.data, self.configuration(q), self.velocity(v), self.velocity(tau),
            held, found, pin.ProximalSettings(ACCURACY, MU, ITERATIONS))
        return self.back(a), np.concatenate([
            _force(model, data) for model, data in zip(held, found)])

    def forward_on_rods(self, q, v, tau, constraints):
        r"""Return a where all constraints are distances, which Pinocchio has no model of.

        Its mass matrix, bias, Jacobians and accelerations, in the KKT system of the rows
        d'(v2 - v1)/L, whose rate without joint accelerations is (d'(a2 - a1) + |v2 - v1|^2)/L.
        """
        model, data = self.model, self.data
        q, v = self.configuration(q), self.velocity(v)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        bias = pin.nonLinearEffects(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        A, gamma = [], []
        for constraint in constraints:
            (p1, J1, v1, a1), (p2, J2, v2, a2) = (
                self._point(q, *self.place(link, pose))
                for link, pose in ((constraint.to, constraint.to_pose),
                                   (constraint.frame, constraint.pose)))
            L = constraint.distance
            A.append((p2 - p1) @ (J2 - J1) / L)
            gamma.append(((p2 - p1) @ (a2 - a1) + (v2 - v1) @ (v2 - v1)) / L)
        A, m = np.array(A), len(A)
        solution = np.linalg.solve(np.block([[M, -A.T], [A, np.zeros((m, m))]]),
                                   np.concatenate([self.velocity(tau) - bias, -np.array(gamma)]))
        return self.back(solution[:model.nv]), solution[model.nv:]

    def _point(self, q, joint, placement):
        """Return (position, Jacobian, velocity, acceleration) of a point, in world axes."""
        frame = self.model.addFrame(pin.Frame(f'p{self.model.nframes}', joint, placement,
                                              pin.FrameType.OP_FRAME))
        data = self.model.createData()
        J = pin.computeFrameJacobian(self.model, data, q, frame,
                                     pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3]
        at = self.data.oMi[joint] * placement
        velocity = placement.actInv(self.data.v[joint])
        acceleration = placement.actInv(self.data.a[joint])
        linear = acceleration.linear + np.cross(velocity.angular, velocity.linear)
        return at.translation, J, at.rotation @ velocity.linear, at.rotation @ linear


def _force(model, data):
    """Return what Pinocchio gives in c1's axes in those of c2, (3,) or (6,)."""
    R = data.c1Mc2.rotation.T
    parts = [R @ data.contact_force.linear, R @ data.contact_force.angular]
    return np.concatenate(parts if model.type == pin.ContactType.CONTACT_6D else parts[:1])
