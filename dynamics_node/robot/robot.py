"""Robot: the one object a user holds."""

from functools import partial

import numpy as np

from dynamics_node.algorithms import energy, jacobian, kinematics, kinematics_derivatives
from dynamics_node.algorithms.coriolis_matrix import coriolis_matrix
from dynamics_node.algorithms.denoc import denoc
from dynamics_node.algorithms.forward_dynamics import forward_dynamics
from dynamics_node.algorithms.friction import friction_torque
from dynamics_node.algorithms.hybrid_dynamics import hybrid_dynamics
from dynamics_node.algorithms.inverse_dynamics import bias_torque, gravity_torque, inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix, mass_matrix_inverse
from dynamics_node.errors import DynamicsError, SingularModel
from dynamics_node.kernels.keys import TASKS, all_keys
from dynamics_node.model import configuration, friction_override, payload
from dynamics_node.model.build import FRICTION_SPEED, build_model
from dynamics_node.model.checks import finite, flag
from dynamics_node.model.model import Model
from dynamics_node.model.read_urdf import read_urdf
from dynamics_node.model.report import model_report
from dynamics_node.model.urdf_text import MAX_BYTES, urdf_text
from dynamics_node.robot import arguments
from dynamics_node.robot.constrained import Constrained, Sets, loops_of
from dynamics_node.robot.derivatives import Derivatives
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.robot.task_space import TaskSpace

ABOUT_FRAMES = {
    'frame_pose': kinematics.frame_pose,
    'frame_twist': kinematics.frame_twist,
    'jacobian': jacobian.jacobian,
    'jacobian_rate': jacobian.jacobian_rate,
    'frame_pose_derivatives': kinematics_derivatives.frame_pose_derivatives,
    'frame_twist_derivatives': kinematics_derivatives.frame_twist_derivatives,
}


class Robot(Derivatives, Constrained, TaskSpace):
    """A robot's dynamics. Immutable: safe to share between threads, and it pickles.

    Every method takes single states (n,) or batches (N, n), mixed at will, and returns fresh
    float64 arrays of the matching shape. Units are SI, 6-vectors linear first. A wrong size, an
    unknown name or a NaN raises a DynamicsError that names the argument and the valid choices.
    """

    def __init__(self, model, compile=True, engine=None):
        arguments.check_kind('model', model, Model)
        compile = flag('compile', compile)
        vars(self).update(model=model, _fast={}, _sets=Sets(model),
                          _answerer=Dispatcher(model, engine, compile, self._swap_in))

    @classmethod
    def from_urdf(cls, source, base='fixed', gravity=(0.0, 0.0, -9.81), locked=None,
                  armature=None, friction=True, friction_speed=FRICTION_SPEED,
                  max_bytes=MAX_BYTES, compile=True, loops=None):
        """Return the robot of a URDF, given as text or as the path of a file.

        :param base: 'fixed' to the world or 'floating' in it.
        :param gravity: vector towards the earth in the root frame [m/s^2].
        :param locked: {joint: position} held there; such joints are no degrees of freedom.
        :param armature: {joint: rotor inertia x gear ratio^2} [kg m^2 or kg].
        :param friction: False ignores the URDF's <dynamics damping friction>.
        :param friction_speed: speed over which dry friction changes its sign [rad/s or m/s].
        :param max_bytes: a longer text is refused.
        :param compile: False stays with NumPy; so does the environment DYNAMICS_NODE_COMPILE=0.
        :param loops: what else holds the links: YAML (a path or text), a list of Constraint or of
            dicts, or Loops, which name the joints without a motor too (docs/constraints.md).
        :raise ModelError: what is wrong, at which link or joint, and what would be valid.
        """
        record = read_urdf(urdf_text(source, max_bytes))
        model = build_model(record, base, gravity, locked, armature, friction, friction_speed)
        return cls(model.with_(loops=tuple(loops_of(model, loops))), compile)

    def __setattr__(self, name, value):
        raise AttributeError(f'a Robot is immutable; make another one to change {name!r}')

    def __reduce__(self):
        return type(self), (self.model, self._answerer.engine is not None)

    def __repr__(self):
        return (f"<Robot '{self.name}': {len(self.joint_names)} joints, nq={self.nq}, "
                f'nv={self.nv}, {self.total_mass:.4g} kg>')

    # What it is ------------------------------------------------------------------------------

    @property
    def name(self):
        return self.model.name

    @property
    def joint_names(self):
        """Names of the moving, independent joints, in the order of q and v."""
        return tuple(joint.name for joint in self.model.joints)

    @property
    def dof_names(self):
        """Names of the entries of v, a and tau: the joint's, or 'joint.axis' where it has more."""
        axes = {'planar': ('x', 'y', 'theta'),
                'floating': ('vx', 'vy', 'vz', 'wx', 'wy', 'wz')}
        return tuple(name for joint in self.model.joints for name in (
            [f'{joint.name}.{axis}' for axis in axes[joint.kind]] if joint.kind in axes
            else [joint.name]))

    @property
    def frame_names(self):
        """Names of all links; each is a frame, also those lumped into another."""
        return tuple(self.model.frames)

    @property
    def nq(self):
        return self.model.nq

    @property
    def nv(self):
        return self.model.nv

    @property
    def total_mass(self):
        """Mass of all links and payloads [kg]."""
        return float(energy.total_mass(self.model))

    @property
    def gravity(self):
        """Vector towards the earth in the root frame, (3,) [m/s^2]."""
        return self.model.gravity.copy()

    def report(self):
        """Return the ModelReport: masses, limits, and what cannot be right; str() prints it."""
        return model_report(self.model)

    # Another robot ---------------------------------------------------------------------------

    @property
    def payloads(self):
        """{name: Payload} of what it carries."""
        return dict(self.model.payloads)

    def with_payload(self, name, frame, mass, com=(0.0, 0.0, 0.0), inertia=None):
        """Return the robot carrying a load at a frame; one of the same name is replaced.

        :param com: centre of mass in that frame [m].
        :param inertia: 3 x 3 about the load's centre of mass [kg m^2]; None is a point mass.
        """
        return self._with(payload.with_payload(self.model, name, frame, mass, com, inertia))

    def with_payloads(self, loads):
        """Return the robot carrying several loads, {name: (frame, mass, com, inertia)}."""
        return self._with(payload.with_payloads(self.model, loads))

    def without_payload(self, name):
        """Return the robot without that load, bit for bit as it was before."""
        return self._with(payload.without_payload(self.model, name))

    def with_gravity(self, gravity):
        """Return the robot in another gravity, a vector towards the earth in the root frame."""
        return self._with(self.model.with_(gravity=finite('gravity', gravity, (3,))))

    def with_friction(self, damping=None, friction=None):
        """Return the robot with other losses, {joint: value}; joints not named keep theirs.

        :param damping: [N m s/rad or N s/m], friction: Coulomb [N m or N]; zero or positive.
        """
        return self._with(friction_override.with_friction(self.model, damping, friction))

    def _with(self, model):
        engine = self._answerer.engine
        return type(self)(model, compile=engine is not None, engine=engine)

    # Machine code ----------------------------------------------------------------------------

    def compile(self, wait=False, frames=(), wrenches=False, payloads=False, derivatives=False,
                constraints=None, targets=()):
        """Compile the kernels of this robot now, instead of each when it is first asked for.

        :param wait: return when they are ready.
        :param frames: links whose pose, twist, Jacobian and its rate are wanted too.
        :param wrenches: also those that take external wrenches.
        :param payloads: also those that take payloads; a robot that carries one has only these.
        :param derivatives: also those of derivatives and regressors, which take ten times as long.
        :param constraints: a set of them that the robot will be held by; True for its own loops.
        :param targets: Targets such as inverse kinematics will be asked for: frames and kinds.
        :raise DynamicsError: compilation is switched off, or a kernel could not be made.
        """
        frames = arguments.check_names('frames', frames)
        for frame in frames:
            self.model.frame(frame)
        wait, wrenches, payloads, derivatives = (flag(name, value) for name, value in (
            ('wait', wait), ('wrenches', wrenches), ('payloads', payloads),
            ('derivatives', derivatives)))
        held = () if constraints is None or constraints is False else self._sets.of(
            None if constraints is True else constraints)
        keys = all_keys(self.model, frames, wrenches, payloads, derivatives, held)
        self._answerer.compile([*keys, *self._task_keys(targets)], wait)
        return self

    @property
    def compiled(self):
        """Whether all kernels for the robot as it is are ready, frames and derivatives apart.

        False also where one could not be made; compile(wait=True) tells why.
        """
        return self._answerer.is_compiled(all_keys(self.model))

    # Configurations --------------------------------------------------------------------------

    def neutral(self):
        """Return q = 0 within the limits, quaternions (0, 0, 0, 1), (nq,)."""
        return configuration.neutral(self.model)

    def random_configuration(self, rng=None):
        """Return a configuration within the limits, (nq,).

        :param rng: a numpy Generator, or a seed.
        """
        return configuration.random_configuration(self.model, arguments.check_generator(rng))

    def integrate(self, q, v, step=1.0):
        """Return the configuration reached from q with the constant velocity v after `step` [s]."""
        step = float(finite('step', step, ()))
        return self._answerer.rows(
            lambda model, q, v: configuration.integrate(model, q, v, step),
            q=arguments.check_configuration(self.model, q), v=arguments.check_array('v', v,
                                                                                    self.nv))

    def difference(self, q0, q1):
        """Return v with integrate(q0, v) = q1, (nv,)."""
        return self._answerer.rows(configuration.difference,
                                   q0=arguments.check_configuration(self.model, q0, name='q0'),
                                   q1=arguments.check_configuration(self.model, q1, name='q1'))

    # Dynamics --------------------------------------------------------------------------------

    def inverse_dynamics(self, q, v, a, wrenches=None):
        """Return tau = M a + C v + g + friction - sum J' F_ext, (nv,).

        :param wrenches: {frame: (fx, fy, fz, tx, ty, tz)} on the robot at that frame's origin, in
            its axes [N, N m].
        """
        return self._answerer.ask('inverse_dynamics', inverse_dynamics, wrenches, q=q, v=v, a=a)

    def forward_dynamics(self, q, v, tau, wrenches=None):
        """Return the acceleration under the torques tau, (nv,): inverse of inverse_dynamics."""
        return self._answerer.ask('forward_dynamics', self._accelerate, wrenches,
                                  q=q, v=v, tau=tau)

    def hybrid_dynamics(self, q, v, a, tau, given, wrenches=None):
        """Return (a, tau), complete, from a where `given` is True and tau where it is not."""
        return self._ask_masked('hybrid_dynamics', self._hybrid, q, v, a, tau, given, wrenches)

    def mass_matrix(self, q):
        """Return M(q), armature included, (nv, nv)."""
        return self._answerer.ask('mass_matrix', mass_matrix, q=q)

    def mass_matrix_inverse(self, q):
        """Return M(q)^-1, (nv, nv)."""
        return self._answerer.ask('mass_matrix_inverse', self._invert, q=q)

    def coriolis_matrix(self, q, v):
        """Return the C(q, v) of the Christoffel symbols; dM/dt - 2C is skew, (nv, nv)."""
        return self._answerer.ask('coriolis_matrix', coriolis_matrix, q=q, v=v)

    def gravity_torque(self, q):
        """Return g(q), (nv,)."""
        return self._answerer.ask('gravity_torque', gravity_torque, q=q)

    def bias_torque(self, q, v):
        """Return C v + g, (nv,); no friction."""
        return self._answerer.ask('bias_torque', bias_torque, q=q, v=v)

    def friction_torque(self, v):
        """Return the torque of damping and dry friction, (nv,)."""
        return self._answerer.ask('friction_torque', friction_torque, v=v)

    def denoc(self, q, v, wrenches=None):
        """Return (I, C, tau) of Saha's formulation: I a + C v = tau + actuation - friction."""
        return self._answerer.ask_numpy(lambda *args: tuple(denoc(*args)), wrenches, q=q, v=v)

    # Energy and kinematics -------------------------------------------------------------------

    def kinetic_energy(self, q, v):
        """Return v' M v / 2 [J]."""
        return self._answerer.ask('kinetic_energy', energy.kinetic_energy, q=q, v=v)

    def potential_energy(self, q):
        """Return the potential energy [J], zero at the height of the root frame."""
        return self._answerer.ask('potential_energy', energy.potential_energy, q=q)

    def center_of_mass(self, q):
        """Return the centre of mass of all links in the world, (3,) [m]."""
        return self._answerer.ask('center_of_mass', self._center, q=q)

    def momentum(self, q, v):
        """Return (linear, angular about the centre of mass) momentum in world axes, (6,)."""
        return self._answerer.ask('momentum', self._momentum, q=q, v=v)

    def frame_pose(self, q, frame):
        """Return the homogeneous matrix of a frame in the world, (4, 4)."""
        return self._ask_frame('frame_pose', (frame,), q)

    def frame_twist(self, q, v, frame):
        """Return the (linear, angular) velocity of a frame's origin in world axes, (6,)."""
        return self._ask_frame('frame_twist', (frame,), q, v)

    def jacobian(self, q, frame, local=False):
        """Return J, (linear, angular) velocity of the frame's origin = J v, (6, nv).

        :param local: in the frame's axes instead of the world's.
        """
        local = local is True or (local is not False and flag('local', local))
        return self._ask_frame('jacobian', (frame, local), q)

    def jacobian_rate(self, q, v, frame, local=False):
        """Return dJ/dt along v, (6, nv)."""
        local = local is True or (local is not False and flag('local', local))
        return self._ask_frame('jacobian_rate', (frame, local), q, v)

    # How they are answered -------------------------------------------------------------------

    def _swap_in(self, key, bind):
        """Let a kernel answer from now on.

        It takes the place of the method on this object, so that a call goes straight into C. What
        it cannot take (lists, wrenches, keywords) it hands on to the method of the class.
        """
        if key.question in TASKS:
            self._swap_in_task(key, bind)
        elif key.frame:
            self._fast[key.question, key.frame] = bind(
                lambda q, *v: self._about_frame(key.question, key.frame, q, *v))
        elif key.constraints:
            self._swap_in_held(key, bind)
        elif key.question == 'hybrid_dynamics':  # its mask is made numbers first
            self._fast[key.question] = bind(self._hybrid)
        elif key.question == 'hybrid_dynamics_derivatives':
            self._fast[key.question] = bind(self._hybrid_derivatives)
        elif key.question.endswith('_directional_derivative'):
            pass  # it takes other arguments than its method
        elif getattr(type(self), key.question) is getattr(Robot, key.question):
            vars(self)[key.question] = bind(getattr(Robot, key.question).__get__(self))
        # a method of a subclass stays: it reaches the kernel through super()

    def _ask_frame(self, question, frame, *states):
        try:
            fast = self._fast.get((question, frame))
        except TypeError:  # a frame that is no name: refused below
            fast = None
        return (fast or partial(self._about_frame, question, frame))(*states)

    def _about_frame(self, question, frame, q, *v):
        self.model.frame(frame[0])
        states = {'q': q, 'v': v[0]} if v else {'q': q}
        return self._answerer.ask(question, ABOUT_FRAMES[question], None, frame, **states)

    def _ask_masked(self, question, ask, q, v, a, tau, given, wrenches):
        """Ask a question that takes the mask of prescribed accelerations, as numbers."""
        given = arguments.check_given(given, self.nv).astype(float)
        if wrenches is None and getattr(q, 'ndim', 0) == 1:
            fast = self._fast.get(question)
            if fast is not None:
                return fast(q, v, a, tau, given)
        return ask(q, v, a, tau, given, wrenches)

    def _hybrid(self, q, v, a, tau, given, wrenches=None):
        return self._answerer.ask('hybrid_dynamics', self._complete, wrenches,
                                  q=q, v=v, a=a, tau=tau, given=given)

    def _accelerate(self, model, q, v, tau, *wrenches):
        return self._regular(forward_dynamics(model, q, v, tau, *wrenches)).a

    def _complete(self, model, q, v, a, tau, given, *wrenches):
        result = self._regular(hybrid_dynamics(model, q, v, a, tau, given > 0.5, *wrenches))
        return result.a, result.tau

    def _invert(self, model, q):
        return self._regular(mass_matrix_inverse(model, q)).matrix

    def _center(self, model, q):
        self._has_mass()
        return energy.center_of_mass(model, q)

    def _momentum(self, model, q, v):
        self._has_mass()
        return energy.momentum(model, q, v)

    def _has_mass(self):
        if self.total_mass == 0.0:
            raise DynamicsError('the robot has no mass, hence no centre of mass')

    def _regular(self, result):
        """Pass on what was solved, or say which joint moves without meeting any inertia."""
        singular = ~(result.margin > 0.0)
        if singular.any():
            k = int(np.flatnonzero(singular)[-1])
            joint = next(j for j in self.model.joints if j.v.start <= k < j.v.stop)
            raise SingularModel(
                f"joint '{joint.name}' moves links that have no inertia in its direction: its "
                'acceleration is not defined. Give the links mass and inertia, the joint an '
                'armature, or lock it')
        return result
