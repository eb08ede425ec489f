"""Call the same quantities in dynamics_node, Pinocchio and MuJoCo.

A `Call` is Python text, so that every engine is timed in the same bare loop with nothing around the
call. The peers do the least that gives the result: Pinocchio the one call that its manual names,
MuJoCo without constraints and only the stages that the result needs.
"""

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
THREADS = 2  # of Pinocchio's functions for batches


class Call(NamedTuple):
    """The call of an engine for a quantity of q, v and x, its acceleration or torque."""

    answer: str        # expression
    names: dict        # what it refers to, other than the state
    before: str = ''   # statements


class Ours:
    """dynamics_node; it takes a state or a whole batch."""

    def __init__(self, urdf):
        self.robot = Robot.from_urdf(urdf, friction=False)
        compile_questions(self.robot, ARGUMENTS)

    @property
    def joint_names(self):
        return self.robot.joint_names

    def call(self, question):
        arguments = {**ARGUMENTS, **DERIVATIVES}[question]
        return Call(f'ask({arguments})', {'ask': getattr(self.robot, question)})


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

    def call(self, question):
        answer, names = self.CALLS[question]
        return Call(answer, {'model': self.model, 'data': self.data, **names})

    def derivatives(self, question, q, v, x):
        """Return its three matrices; the third is symmetric, and whole as we return it here."""
        algorithm = (pin.computeRNEADerivatives if question.startswith('inverse')
                     else pin.computeABADerivatives)
        dq, dv, last = (np.array(part) for part in algorithm(self.model, self.data, q, v, x))
        return dq, dv, np.triu(last) + np.triu(last, 1).T

    def parallel_call(self, question, q, v, x, out):
        """Return the Call for a whole batch on several threads, or None if there is none.

        States are columns here: our rows as Eigen stores them, so nothing is copied.
        """
        if question not in self.PARALLEL:
            return None
        return Call('parallel(threads, pool, Q, V, X, out)', {
            'parallel': self.PARALLEL[question], 'threads': THREADS, 'Q': q.T, 'V': v.T, 'X': x.T,
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

    def call(self, question):
        answer, before = self.CALLS[question]
        return Call(answer, self._names, before)


def in_order(rows, order):
    """Return our columns where an engine has them."""
    there = np.empty_like(rows)
    there[:, order] = rows
    return there


def compile_questions(robot, questions):
    """Wait for these kernels only; return {kernel: operations}."""
    keys = {question: key_of(robot.model, question) for question in questions}
    robot._dispatcher.compile(list(keys.values()), wait=True)
    for question in questions:  # the first answer binds the kernel
        count = len({**ARGUMENTS, **DERIVATIVES}[question].split(', '))
        getattr(robot, question)(*np.zeros((count, robot.nv)))
    return {question: robot._dispatcher.kernels.kernel(key).operations
            for question, key in keys.items()}
