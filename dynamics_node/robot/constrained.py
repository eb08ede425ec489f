"""What a Robot says about loops, contacts and impacts."""

import os

import numpy as np

from dynamics_node.constrained import regular_or_fallback
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import Constraint, size, validate
from dynamics_node.constrained.read_loops import MAX_CHARACTERS, Loops, read_loops
from dynamics_node.constrained.regular_or_fallback import ConstrainedMotion
from dynamics_node.constrained.rows import rows
from dynamics_node.errors import DynamicsError, FileError
from dynamics_node.files import read_text
from dynamics_node.robot import arguments

CHOICES = ('least_force', 'least_torque', 'weighted', 'unique')
KNOWN_SETS = 64  # remembered by a robot; then it forgets them all


def loops_of(model, source):
    """Return the Loops of a source that fit the model.

    :param source: None, Loops, a path or text of YAML, a dict, or a list of dicts and Constraint.
    """
    if source is None:
        return Loops((), ())
    if not isinstance(source, Loops):
        source = read_loops(_text_of(source))
    validate(model, source.constraints)
    return Loops(tuple(source.constraints),
                 arguments.check_joint_names(model, 'passive', source.passive))


def _text_of(source):
    """Return the content of a file; what is no path is returned as it is."""
    is_path = isinstance(source, os.PathLike) or (isinstance(source, str) and ':' not in source
                                                  and '\n' not in source)
    if not is_path:
        return source
    try:
        return read_text(source, 4 * MAX_CHARACTERS)  # bytes of UTF-8 each
    except FileError as error:
        raise DynamicsError(f'loops: {error}') from error


class Sets:
    """The sets of constraints a robot has been asked about; equal ones are one object.

    A tuple of Constraint cannot change: met again, it is known by its identity, and neither read
    nor compared.
    """

    def __init__(self, model):
        self._model = model
        self._met = {}   # id of a tuple -> (that tuple, the set)
        self._sets = {}  # set -> itself

    def of(self, constraints, contacts=None):
        """Return the constraints, and then the contacts, as one valid tuple of Constraint."""
        known = self._met.get((id(constraints), id(contacts)))
        if known is not None:  # both are kept, so that no other has their identity
            return known[-1]
        held = self._read('constraints', constraints) + self._read('contacts', contacts)
        validate(self._model, held)
        if len(self._met) + len(self._sets) > KNOWN_SETS:
            self._met.clear()
            self._sets.clear()
        held = self._sets.setdefault(held, held)
        if _is_lasting(constraints) and _is_lasting(contacts):
            self._met[id(constraints), id(contacts)] = constraints, contacts, held
        return held

    def _read(self, name, constraints):
        if constraints is None:
            return () if name == 'contacts' else self._model.loops[0]
        if isinstance(constraints, Loops):
            return constraints.constraints
        if _is_lasting(constraints):
            return constraints
        if isinstance(constraints, Constraint):
            constraints = [constraints]
        try:
            return read_loops(constraints).constraints
        except DynamicsError as error:
            raise DynamicsError(f'{name}: {error}') from None


def _is_lasting(constraints):
    return constraints is None or (type(constraints) is tuple and
                                   all(type(entry) is Constraint for entry in constraints))


class Constrained:
    """The methods of a Robot that is held otherwise than by its joints.

    `constraints` is a sequence of Constraint, or of dicts with their fields; None is the robot's
    own loops. `contacts` are the same, held besides the loops. Multipliers are the forces and
    moments on a constraint's frame from what it is held to, in the axes of the latter, row by row
    as `constrained.constraint.row_names` calls them, (m,). Rows may repeat each other: the motion
    is unique all the same, and of the multipliers the smallest are returned.
    """

    @property
    def loops(self):
        """Loops(constraints, passive): what closes the robot's loops, joints without a motor."""
        return Loops(*self.model.loops)

    def with_loops(self, loops):
        """Return the robot with these loops instead of its own; for `loops` see from_urdf."""
        return self._with(self.model.with_(loops=tuple(loops_of(self.model, loops))))

    # Dynamics --------------------------------------------------------------------------------

    def constrained_forward_dynamics(self, q, v, tau, constraints=None, wrenches=None,
                                     stabilisation=None, proximal=None):
        """Return the ConstrainedMotion (a, tau, multipliers) under the torques tau.

        M a + b = tau + A' multipliers with A a + dA/dt v = 0. Constraints that contradict each
        other are all broken a little: see constraint_report.

        :param stabilisation: (alpha, beta) [1/s] of Baumgarte: what has drifted apart comes back,
            A a + dA/dt v = -2 alpha A v - beta^2 residual. Without overshoot if both are equal.
        :param proximal: True, or Proximal: multipliers that stay bounded in and near a singular
            configuration, see constrained/proximal.py; in NumPy.
        """
        held = self._sets.of(constraints)
        if proximal is not None and proximal is not False:
            settings = arguments.check_proximal(proximal)
            rates = arguments.check_stabilisation(stabilisation)

            def near(model, *state):
                return regular_or_fallback.proximal_forward(model, held, settings, *state,
                                                            stabilisation=rates)
            return self._held_numpy(near, held, ConstrainedMotion, wrenches, q=q, v=v, tau=tau)
        if wrenches is None and stabilisation is None:
            fast = self._fast.get(('constrained_forward_dynamics', id(held)))
            if fast is not None:
                return fast(q, v, tau)
        return self._held_forward(held, q, v, tau, wrenches, stabilisation)

    def constrained_inverse_dynamics(self, q, v, a, constraints=None, passive=None,
                                     passive_torques=None, choice='least_force', weights=None,
                                     wrenches=None):
        """Return the ConstrainedMotion (a, tau, multipliers) of a motion that keeps constraints.

        :param passive: names of the joints without a motor, None for the loops' own; floating
            joints never have one.
        :param passive_torques: (nv,), of which the passive entries are read; None for zero.
        :param choice: where many torques do it: 'least_force' of the multipliers, 'least_torque' of
            the motors, 'weighted' for both together, or 'unique' to be refused.
        :param weights: (of torques (nv,), of multipliers (m,)), each None for ones.
        :raise DynamicsError: the motion breaks a constraint, or no torques can make it.
        """
        held, active = self._sets.of(constraints), self._active(passive)
        settings = self._inverse_settings(held, active, choice, weights)
        from dynamics_node.constrained.inverse import constrained_inverse_dynamics

        def inverse(model, q, v, a, passive_torques, *wrenches):
            found = constrained_inverse_dynamics(
                model, q, v, a, held, active, passive_torques, **settings,
                **dict(zip(('wrenches',), wrenches)))
            return ConstrainedMotion(a, found.tau, found.multipliers)
        return self._held_numpy(inverse, held, ConstrainedMotion, wrenches, q=q, v=v, a=a,
                                passive_torques=self._or_zero(passive_torques))

    def constrained_hybrid_dynamics(self, q, v, a, tau, given, constraints=None, wrenches=None,
                                    stabilisation=None):
        """Return the ConstrainedMotion from a where `given` is True and tau where it is not.

        :raise DynamicsError: the given accelerations contradict the constraints.
        """
        held = self._sets.of(constraints)
        given = arguments.check_given(given, self.nv).astype(float)
        return self._ask_held('hybrid', held, regular_or_fallback.hybrid, wrenches, stabilisation,
                              q=q, v=v, a=a, tau=tau, given=given)

    def constraint_rows(self, q, v, constraints=None):
        """Return the Rows (residual, A, gamma): A v is held at zero, and A a + gamma.

        residual (m,) [m or rad], A (m, nv), gamma = dA/dt v (m,).
        """
        held = self._sets.of(constraints)
        fast = self._fast.get(('constraint_rows', id(held)))
        return fast(q, v) if fast is not None else self._held_rows(held, q, v)

    def constraint_report(self, q, v, constraints=None, passive=None):
        """Return the ConstraintReport of one state; str() prints it.

        Rank, repeated rows, freedom, actuation, distance to a singular configuration, and what
        contradicts what.
        """
        from dynamics_node.constrained.constraint_report import report

        held, active = self._sets.of(constraints), self._active(passive)
        q, v = self._single_configuration(q), arguments.check_single('v', v, self.nv)
        with regular_or_fallback.linear_algebra_errors():
            return report(self.model, q, v, held, active)

    # Derivatives -----------------------------------------------------------------------------

    def constrained_forward_dynamics_derivatives(self, q, v, tau, constraints=None, wrenches=None):
        """Return (dq, dv, dtau, multipliers_dq, multipliers_dv, multipliers_dtau).

        Of the acceleration (nv, nv) and of the multipliers (m, nv), along unit velocities.

        :raise DynamicsError: rows depend on each other, so that the multipliers are not unique.
        """
        held = self._sets.of(constraints)
        return self._answerer.ask(
            'constrained_forward_dynamics_derivatives',
            lambda model, *state: regular_or_fallback.forward_derivatives(model, held, *state),
            wrenches,
            constraints=held, q=q, v=v, tau=tau)

    def constrained_inverse_dynamics_derivatives(self, q, v, a, constraints=None, passive=None,
                                                 passive_torques=None, choice='least_force',
                                                 weights=None, wrenches=None):
        """Return (dq, dv, da, multipliers_dq, multipliers_dv, multipliers_da).

        Of the torques (nv, nv) and the multipliers (m, nv); arguments as of
        constrained_inverse_dynamics.
        """
        held, active = self._sets.of(constraints), self._active(passive)
        settings = self._inverse_settings(held, active, choice, weights)
        from dynamics_node.constrained import derivatives

        def inverse(model, q, v, a, passive_torques, *wrenches):
            return derivatives.constrained_inverse_dynamics_derivatives(
                model, q, v, a, held, active, passive_torques, **settings,
                **dict(zip(('wrenches',), wrenches)))
        return self._held_numpy(inverse, held, derivatives.ConstrainedInverseDerivatives, wrenches,
                                q=q, v=v, a=a, passive_torques=self._or_zero(passive_torques))

    # States that keep constraints ------------------------------------------------------------

    def project_configuration(self, q, constraints=None, fixed=()):
        """Return a configuration near q that keeps the constraints and the joints' limits, (nq,).

        :param fixed: names of joints that must not move.
        :raise DynamicsError: there is none in reach; it says which constraint is broken.
        """
        from dynamics_node.constrained.assembly import project_configuration

        held = self._sets.of(constraints)
        fixed = arguments.check_joint_names(self.model, 'fixed', fixed)
        return self._answerer.rows(
            regular_or_fallback.with_state_number(
                lambda model, q: project_configuration(model, q, held, fixed=fixed), q),
            q=arguments.check_configuration(self.model, q))

    def project_velocity(self, q, v, constraints=None):
        """Return the velocity nearest to v, by kinetic energy, that keeps constraints, (nv,)."""
        from dynamics_node.constrained.assembly import project_velocity

        held = self._sets.of(constraints)
        return self._answerer.rows(
            regular_or_fallback.with_state_number(
                lambda model, q, v: project_velocity(model, q, v, held), q, v),
            q=arguments.check_configuration(self.model, q), v=arguments.check_array('v', v,
                                                                                    self.nv))

    # Contact ---------------------------------------------------------------------------------

    def contact_forces(self, q, v, tau, contacts, wrenches=None):
        """Return the ContactForces (force, a, violation, rank) under tau: no sensor is needed.

        `force` has the rows of the loops first, then those of the contacts.
        """
        from dynamics_node.constrained.contact_forces import ContactForces, contact_forces

        held = self._sets.of(None, contacts)

        def forces(model, q, v, tau, *wrenches):
            return contact_forces(model, q, v, tau, held, *wrenches)
        found = self._held_numpy(forces, held, ContactForces, wrenches, q=q, v=v, tau=tau)
        return found._replace(rank=found.rank.astype(int)[()])

    def floating_base_torques(self, q, v, a, contacts, choice='least_torque', passive=None,
                              preferred=None, weights=None, wrenches=None):
        """Return the Distribution of the work of a motion between motors and contacts.

        (tau, force, unsupported, supported, slip, rank, choices): see constrained/distribution.

        :param preferred: torques (nv,) to stay near to; zero by default.
        :param choice, passive, weights: as of constrained_inverse_dynamics.
        """
        from dynamics_node.constrained.distribution import Distribution, floating_base_torques

        held, active = self._sets.of(None, contacts), self._active(passive)
        settings = self._inverse_settings(held, active, choice, weights)
        settings['actuated'] = [joint.name for joint in self.model.joints
                                if active[joint.v].all()]

        def torques(model, q, v, a, preferred, *wrenches):
            return floating_base_torques(model, q, v, a, held, preferred=preferred, **settings,
                                         **dict(zip(('wrenches',), wrenches)))
        found = self._held_numpy(torques, held, Distribution, wrenches, q=q, v=v, a=a,
                                 preferred=self._or_zero(preferred, 'preferred'))
        return found._replace(supported=found.supported.astype(bool)[()],
                              rank=found.rank.astype(int)[()],
                              choices=found.choices.astype(int)[()])

    def impact(self, q, v, contacts, restitution=0.0):
        """Return (v, impulse, energy_loss) after all contacts have been hit at once.

        The loops stay closed; their impulses come first.

        :param restitution: from 0, plastic, to 1, elastic: a number for all contacts, {contact:
            number or one per row}, or (m,) numbers.
        """
        held = self._sets.of(None, contacts)
        restitution = arguments.check_restitution(restitution, held)
        fast = self._fast.get(('impact', id(held)))
        if fast is not None and getattr(q, 'ndim', 0) == 1:
            return fast(q, v, restitution)
        return self._held_impact(held, q, v, restitution)

    # How they are answered -------------------------------------------------------------------

    def _swap_in_held(self, key, bind):
        """Let a kernel of a set of constraints answer, see Robot._swap_in; the key is kept."""
        ask = {'constrained_forward_dynamics': self._held_forward,
               'impact': self._held_impact, 'constraint_rows': self._held_rows}.get(key.question)
        if ask is not None:
            held = key.constraints
            self._fast[key.question, id(held)] = bind(lambda *state: ask(held, *state))
        name = 'constrained_forward_dynamics'
        if (key.question == name and key.constraints == self.model.loops[0]
                and getattr(type(self), name) is getattr(Constrained, name)):
            vars(self)[name] = bind(getattr(Constrained, name).__get__(self))

    def _held_rows(self, held, q, v):
        return self._answerer.ask('constraint_rows', lambda *state: rows(*state, held),
                                  constraints=held, q=q, v=v)

    def _held_forward(self, held, q, v, tau, wrenches=None, stabilisation=None):
        return self._ask_held('forward', held, regular_or_fallback.forward, wrenches, stabilisation,
                              q=q, v=v, tau=tau)

    def _held_impact(self, held, q, v, restitution):
        return self._answerer.ask(
            'impact', lambda model, *state: regular_or_fallback.impact(model, held, *state),
            constraints=held, q=q, v=v, restitution=restitution)

    def _ask_held(self, which, held, answer, wrenches, stabilisation, **arrays):
        """Ask a question that may be stabilised: another one, with two more numbers."""
        rates = arguments.check_stabilisation(stabilisation)
        if rates is None:
            return self._answerer.ask(
                f'constrained_{which}_dynamics',
                lambda model, *state: answer(model, held, *state), wrenches, constraints=held,
                **arrays)

        def stabilised(model, *state):
            state, rates, pushed = (state[:len(arrays)], state[len(arrays)],
                                    state[len(arrays) + 1:])
            return answer(model, held, *state, *(pushed or (None,)), stabilisation=rates)
        return self._answerer.ask(f'stabilised_{which}_dynamics', stabilised, wrenches,
                                  constraints=held, **arrays, stabilisation=rates)

    def _held_numpy(self, answer, held, kind, wrenches, **arrays):
        """Ask what has no kernel; an empty batch needs no state that keeps the constraints."""
        if any(regular_or_fallback.is_batch(array) and len(array) == 0
               for array in arrays.values()):
            answer = regular_or_fallback.zero_result(kind, self.nv, sum(map(size, held)))
        answer = regular_or_fallback.with_state_number(answer, *arrays.values())
        return kind(*self._answerer.ask_numpy(answer, wrenches, **arrays))

    def _active(self, passive):
        """Return where there is a motor, (nv,) booleans."""
        passive = self.model.loops[1] if passive is None else arguments.check_joint_names(
            self.model, 'passive', passive)
        return actuated_dofs(self.model, passive)

    def _inverse_settings(self, held, active, choice, weights):
        torque, force = arguments.check_pair('weights', weights,
                                        '(of torques (nv,), of multipliers (m,))')
        torque = arguments.check_weights('weights[0]', torque, self.nv)
        return {'choice': arguments.check_choice(choice, CHOICES),
                'torque_weights': None if torque is None else torque[active],
                'force_weights': arguments.check_weights('weights[1]', force, sum(map(size, held)))}

    def _or_zero(self, torques, name='passive_torques'):
        return np.zeros(self.nv) if torques is None else arguments.check_array(name, torques,
                                                                               self.nv)

    def _single_configuration(self, q, name='q'):
        q = arguments.check_configuration(self.model, q, name)
        if q.ndim != 1:
            raise DynamicsError(f'{name} must be one state, ({self.nq},), got {q.shape}')
        return q
