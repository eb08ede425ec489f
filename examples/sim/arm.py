"""Simulate a torque-controlled arm in MuJoCo, from the URDF that the node reads.

    arm = SimulatedArm('robot.urdf')
    arm.set(q)
    arm.step(robot.gravity_torque(arm.q), n=2)

No ROS, no actuator dynamics: the commanded torque is the torque at the joint, up to its limit.
"""

import mujoco
import numpy as np
from mujoco_model import add_load, force_of_ground, let_touch, read_spec

# RK4: at 1 ms its error is far below what any controller leaves, so that a tracking error is the
# controller's and energy is kept. 'implicitfast' stands joints whose damping is too stiff for RK4
# (a time constant inertia/damping below a third of the time step, as in a hand's fingers).
INTEGRATORS = {'rk4': mujoco.mjtIntegrator.mjINT_RK4,
               'implicitfast': mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
               'euler': mujoco.mjtIntegrator.mjINT_EULER}
# MuJoCo's dry friction is a soft constraint; as it comes, a joint creeps at 0.3 rad/s under 80 % of
# its break-away torque. At the hardest it allows (two time steps, impedance 0.9999): 4e-5 rad/s.
HARDEST = [0.9999, 0.9999, 0.001, 0.5, 2.0]
TIP = 5e-3   # [m] radius of the ball that touches a table


class SimulatedArm:
    """An arm under torque, its joints in the order of `joint_names`; brake open, q = 0, at rest.

    :ivar braked: whether the brakes hold it. Time passes, torques are taken but do not move it.
    :ivar effort: what a torque sensor at the joints shows, (n,): the torque applied in the last
        step, or the load on the brakes.
    :ivar effort_limit: (n,), inf where the URDF has none.
    :ivar clamped: number of steps in which a torque was cut to its limit.
    """

    def __init__(self, urdf, joints=None, gravity=(0.0, 0.0, -9.81), damping=True,
                 dry_friction=True, armature=None, stops=True, timestep=1e-3, integrator='rk4',
                 table=None):
        """Load a URDF, text or path.

        :param joints: order of the joints; None is MuJoCo's, from the root out.
        :param gravity: vector towards the earth in the root frame [m/s^2].
        :param damping: whether joints have the damping of the URDF, dry_friction: its friction.
        :param armature: {joint: rotor inertia x gear ratio^2} [kg m^2 or kg].
        :param stops: whether position limits are end stops, a little soft.
        :param timestep: [s], integrator: see INTEGRATORS.
        :param table: its height in the root frame [m]. The last link touches it with a ball of
            radius TIP about its origin, without friction; nothing else does. None: no table.
        """
        self._spec = read_spec(urdf)
        self._spec.option.gravity = gravity
        self._spec.option.timestep = timestep
        self._spec.option.integrator = INTEGRATORS[integrator]
        self._spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET.value
        self._tip = self.link_names[-1]
        if table is None:
            self._spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value
        else:
            # No friction: with a coefficient of 0.1 a sliding ball under 10 N chatters by 7 to 19 N
            # in MuJoCo, with stiff contacts as with soft ones.
            let_touch(self._spec, self._tip, 0.0, TIP, table)
        armature = dict(armature or {})
        for joint in self._spec.joints:
            joint.damping = np.asarray(joint.damping) * damping
            joint.frictionloss *= dry_friction
            joint.armature = armature.pop(joint.name, 0.0)
            joint.solref_friction, joint.solimp_friction = [2.0 * timestep, 1.0], HARDEST
            if not stops:
                joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
        if armature:
            raise ValueError(f'armature of {", ".join(armature)}: no such joint')
        self._loads, self.timestep, self.steps = {}, timestep, 0
        self.model = self._spec.copy().compile()
        self.data = mujoco.MjData(self.model)
        self._order(joints)
        limited = self.model.jnt_actfrclimited[self._joint].astype(bool)
        self.effort_limit = np.where(limited, self.model.jnt_actfrcrange[self._joint, 1], np.inf)
        self.effort, self.braked, self.clamped = np.zeros(self.n), False, 0
        mujoco.mj_forward(self.model, self.data)

    def _order(self, joints):
        """Find the joints by name: their ids, and that each has one value makes these its dofs."""
        own = tuple(self.model.joint(k).name for k in range(self.model.njnt))
        self.joint_names = own if joints is None else tuple(joints)
        if sorted(self.joint_names) != sorted(own):
            raise ValueError(f'joints are {", ".join(self.joint_names)}; expected an order of '
                             f'{", ".join(own)}')
        self._joint = np.array([self.model.joint(name).id for name in self.joint_names], dtype=int)
        self.n = len(own)

    # State -----------------------------------------------------------------------------------

    @property
    def q(self):
        return self.data.qpos[self._joint]  # indexed by an array: a copy

    @property
    def v(self):
        return self.data.qvel[self._joint]

    @property
    def time(self):
        """Seconds simulated."""
        return self.steps * self.timestep

    @property
    def energy(self):
        """Kinetic and potential energy [J]."""
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy.sum())

    @property
    def contact_force(self):
        """The force of the table on the tip in the last time step, in the root's axes, (3,) [N]."""
        return force_of_ground(self.model, self.data, self._tip)

    @property
    def link_names(self):
        """Names of the links, loads apart."""
        return tuple(body.name for body in self._spec.bodies[1:])

    def set(self, q, v=None):
        """Set positions and velocities, zero if not given; the time is not reset."""
        q, v = self._checked('q', q), np.zeros(self.n) if v is None else self._checked('v', v)
        self.data.qpos[self._joint], self.data.qvel[self._joint] = q, v
        self.data.qacc_warmstart[:] = 0.0
        mujoco.mj_forward(self.model, self.data)
        self._feel_brakes()

    def frame_pose(self, link):
        """Return the pose of a link in the world, (4, 4)."""
        mujoco.mj_kinematics(self.model, self.data)
        body, T = self.data.body(link), np.eye(4)
        T[:3, :3], T[:3, 3] = body.xmat.reshape(3, 3), body.xpos
        return T

    # Motion ----------------------------------------------------------------------------------

    def step(self, torque, n=1):
        """Apply a torque, cut to the limits as a drive does, for n time steps."""
        applied = self._applied(torque)
        self.steps += n
        if self.braked:
            return
        self.data.qfrc_applied[self._joint] = self.effort = applied
        self.clamped += n * bool((applied != torque).any())
        mujoco.mj_step(self.model, self.data, nstep=n)
        if not (np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qvel).all()):
            raise ArithmeticError(f'the simulation diverged at {self.time:.3f} s: take a smaller '
                                  "timestep, or integrator 'implicitfast'")

    def acceleration(self, torque):
        """Return the acceleration under a torque in the present state, brakes open, (n,)."""
        self.data.qfrc_applied[self._joint] = self._applied(torque)
        mujoco.mj_forward(self.model, self.data)
        return self.data.qacc[self._joint]

    def brake(self):
        """Stop, and stand still from now on."""
        self.braked = True
        self.set(self.q)

    def release(self):
        """Open the brakes."""
        self.braked = False

    def _applied(self, torque):
        return np.clip(self._checked('torque', torque), -self.effort_limit, self.effort_limit)

    def _feel_brakes(self):
        if self.braked:  # at rest the bias is the weight
            self.effort = self.data.qfrc_bias[self._joint]

    def _checked(self, name, x):
        x = np.asarray(x, dtype=float)
        if x.shape != (self.n,) or not np.isfinite(x).all():
            raise ValueError(f'{name} is {x.tolist()}; expected {self.n} finite numbers, for '
                             f'{", ".join(self.joint_names)}')
        return x

    # Load ------------------------------------------------------------------------------------

    @property
    def loads(self):
        """Names of the loads."""
        return tuple(self._loads)

    def attach(self, name, frame, mass, com=(0.0, 0.0, 0.0), inertia=None):
        """Attach a load, as Robot.with_payload; it has the speed of its link at once.

        :param com: centre of mass in the frame of that link [m].
        :param inertia: 3 x 3 about that centre, in the link's axes [kg m^2]; None is a point mass.
        """
        self._carry({**self._loads, name: (frame, mass, com, inertia)})

    def detach(self, name):
        """Detach a load."""
        self._carry({key: load for key, load in self._loads.items() if key != name})

    def _carry(self, loads):
        """Compile a model with these loads, and copy the state: so all constants of MuJoCo follow.

        A load has no joint, so the two models have the same coordinates.
        """
        spec = self._spec.copy()
        for name, load in loads.items():
            add_load(spec, name, *load)
        model = spec.compile()
        data = mujoco.MjData(model)
        for field in ('qpos', 'qvel', 'qfrc_applied', 'qacc_warmstart'):
            getattr(data, field)[:] = getattr(self.data, field)
        mujoco.mj_forward(model, data)
        self.model, self.data, self._loads = model, data, dict(loads)
        self._feel_brakes()
