"""Call the same quantities in dynamics_node, Pinocchio and MuJoCo.

A `Call` is Python text, so that every engine is timed in the same bare loop with nothing around the
call. The peers do the least that gives the result: Pinocchio the one call that its manual names,
MuJoCo without constraints and only the stages that the result needs.
"""

import os
from typing import NamedTuple
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

from dynamics_node import Robot
from dynamics_node.kernels.keys import key_of

ARGUMENTS = {'inverse_dynamics': 'q, v, x', 'forward_dynamics': 'q, v, x', 'mass_matrix': 'q'}
DERIVATIVES = {'inverse_dynamics_derivatives': 'q, v, x',
               'forward_dynamics_derivatives': 'q, v, x'}
THREADS = 2  # of functions for batches that are compared on several threads


class Call(NamedTuple):
    """How an engine computes a quantity of q, v and x, an acceleration or torque."""

    expression: str    # the result
    names: dict        # that it refers to, other than the state
    before: str = ''   # statements to run first


class Ours:
    """dynamics_node, for a single state or a whole batch."""

    def __init__(self, urdf, base='fixed', quantities=ARGUMENTS, threads=1):
        before = os.environ.get('DYNAMICS_NODE_THREADS')
        os.environ['DYNAMICS_NODE_THREADS'] = str(threads)   # read when a Robot is made
        try:
            self.robot = Robot.from_urdf(urdf, base=base, friction=False)
        finally:
            if before is None:
                del os.environ['DYNAMICS_NODE_THREADS']
            else:
                os.environ['DYNAMICS_NODE_THREADS'] = before
        compile_kernels(self.robot, quantities)

    @property
    def joint_names(self):
        return self.robot.joint_names

    def call(self, quantity):
        arguments = {**ARGUMENTS, **DERIVATIVES}[quantity]
        return Call(f'call({arguments})', {'call': getattr(self.robot, quantity)})

    def call_with_out(self, quantity, *states):
        """Return the Call that writes to arrays of its own, filled once with these states."""
        arguments = {**ARGUMENTS, **DERIVATIVES}[quantity].split(', ')
        method = getattr(self.robot, quantity)
        return Call(f'call({", ".join(arguments)}, out=out)',
                    {'call': method, 'out': method(*states[:len(arguments)])})


class Pinocchio:
    """Pinocchio's Python API."""

    CALLS = {'inverse_dynamics': ('rnea(model, data, q, v, x)', {'rnea': pin.rnea}),
             'forward_dynamics': ('aba(model, data, q, v, x)', {'aba': pin.aba}),
             'mass_matrix': ('crba(model, data, q)', {'crba': pin.crba}),
             'inverse_dynamics_derivatives': ('rnea(model, data, q, v, x)',
                                              {'rnea': pin.computeRNEADerivatives}),
             'forward_dynamics_derivatives': ('aba(model, data, q, v, x)',
                                              {'aba': pin.computeABADerivatives})}
    PARALLEL = {'inverse_dynamics': pin.rneaInParallel, 'forward_dynamics': pin.abaInParallel}

    def __init__(self, urdf, joint_names):
        self.model = pin.buildModelFromXML(urdf)
        self.data = self.model.createData()
        joints = [self.model.joints[self.model.getJointId(name)] for name in joint_names]
        self.order = np.array([joint.idx_v for joint in joints])
        self._columns = [(joint.idx_q, joint.nq) for joint in joints]

    def states(self, q, v, x):
        """Return the states in its order; a continuous joint's angle is a (cosine, sine)."""
        rows = np.empty((len(q), self.model.nq))
        for angle, (first, size) in zip(q.T, self._columns):
            rows[:, first] = angle if size == 1 else np.cos(angle)
            if size == 2:
                rows[:, first + 1] = np.sin(angle)
        return rows, in_order(v, self.order), in_order(x, self.order)

    def call(self, quantity):
        expression, names = self.CALLS[quantity]
        return Call(expression, {'model': self.model, 'data': self.data, **names})

    def derivatives(self, quantity, q, v, x):
        """Return its three matrices; of the third, which is symmetric, both triangles."""
        algorithm = (pin.computeRNEADerivatives if quantity.startswith('inverse')
                     else pin.computeABADerivatives)
        dq, dv, last = (np.array(part) for part in algorithm(self.model, self.data, q, v, x))
        return dq, dv, np.triu(last) + np.triu(last, 1).T

    def parallel_call(self, quantity, q, v, x, out):
        """Return the Call for a whole batch on several threads, or None if there is none.

        States are columns here: our rows as Eigen stores them, so nothing is copied.
        """
        if quantity not in self.PARALLEL:
            return None
        return Call('parallel(threads, pool, Q, V, X, out)', {
            'parallel': self.PARALLEL[quantity], 'threads': THREADS, 'Q': q.T, 'V': v.T, 'X': x.T,
            'pool': pin.ModelPool(self.model, THREADS), 'out': out.T})


class MuJoCo:
    """MuJoCo's Python API."""

    COMPILER = {'balanceinertia': 'false', 'boundmass': '0', 'boundinertia': '0'}
    BODIES = 'kinematics(model, data); com(model, data); '
    CALLS = {
        'inverse_dynamics': ('tau', 'q_[:] = q; v_[:] = v; a_[:] = x; ' + BODIES
                             + 'velocities(model, data); rne(model, data, 1, tau)'),
        'forward_dynamics': ('a_', 'q_[:] = q; v_[:] = v; tau_[:] = x; forward(model, data)'),
        'mass_matrix': ('M', 'q_[:] = q; ' + BODIES + 'crb(model, data); full(model, data, M)'),
    }

    def __init__(self, urdf, joint_names):
        root = ElementTree.fromstring(urdf)
        for joint in root.findall('joint'):
            for limit in joint.findall('limit'):
                joint.remove(limit)
        ElementTree.SubElement(ElementTree.SubElement(root, 'mujoco'), 'compiler', self.COMPILER)
        model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding='unicode'))
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        data = mujoco.MjData(model)
        self.order = np.array([model.joint(name).dofadr[0] for name in joint_names])
        self._names = {
            'model': model, 'data': data, 'q_': data.qpos, 'v_': data.qvel, 'a_': data.qacc,
            'tau_': data.qfrc_applied, 'tau': np.zeros(model.nv),
            'M': np.zeros((model.nv, model.nv)), 'kinematics': mujoco.mj_kinematics,
            'com': mujoco.mj_comPos, 'velocities': mujoco.mj_comVel, 'rne': mujoco.mj_rne,
            'forward': mujoco.mj_forward, 'crb': mujoco.mj_crb, 'full': mujoco.mj_fullM}

    def states(self, q, v, x):
        """Return the states in its order."""
        return tuple(in_order(array, self.order) for array in (q, v, x))

    def call(self, quantity):
        expression, before = self.CALLS[quantity]
        return Call(expression, self._names, before)


def in_order(rows, order):
    """Return our columns in the order of an engine."""
    there = np.empty_like(rows)
    there[:, order] = rows
    return there


def compile_kernels(robot, quantities):
    """Compile the kernels of these quantities only; return {quantity: operations}."""
    keys = {quantity: key_of(robot.model, quantity) for quantity in quantities}
    robot._dispatcher.compile(list(keys.values()), wait=True)
    for quantity in quantities:  # the first call binds the kernel
        count = len({**ARGUMENTS, **DERIVATIVES}[quantity].split(', '))
        getattr(robot, quantity)(robot.neutral(), *np.zeros((count - 1, robot.nv)))
    return {quantity: robot._dispatcher.kernels.kernel(key).operations
            for quantity, key in keys.items()}
