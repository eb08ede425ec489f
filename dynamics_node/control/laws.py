"""The torque modes: state and reference -> torque that the drives shall give.

Each law is f(terms, q, v, motion, gains) -> tau, (nv,) [N m or N]: a pure function of the Terms of
a robot, its measured state, the Motion of its reference and the Gains; what a mode does not need it
does not look at. Batches pass through. Mode task_space, whose reference is of a frame, has a file
of its own: task_laws.py.

With  e = difference(q, q*)  and  de = v* - v,  starred values being the reference's:

| mode                | torque                                                  | friction at |
|---------------------|---------------------------------------------------------|-------------|
| gravity             | g(q)                                                    | -           |
| feedforward         | M(q*) a* + C(q*, v*) v* + g(q*) + friction              | v*          |
| computed_torque     | M(q) (a* + Kp e + Kd de) + C(q, v) v + g(q) + friction  | v*          |
| impedance           | Kp e + Kd de + g(q) + friction                          | v*          |
| impedance_with_bias | Kp e + Kd de + C(q, v) v + g(q) + friction              | v*          |

Why the losses of the joints are taken at the reference's velocity in every mode that has one:

* A measured velocity is late and noisy, and dry friction changes its sign at zero, where the noise
  is all there is. The smoothed sign has there the slope f / v_s, 90 N m s/rad for 0.9 N m over
  0.01 rad/s: to feed that back with the sign that takes damping away is to shake the arm.
* The error is damped, not driven: for computed torque on an exact model
      e'' + Kd e' + Kp e = M(q)^-1 (friction(v) - friction(v*)),
  in which friction rises with velocity, so what is on the right only takes energy from the error.
  It vanishes where the reference is followed. (sot-torque-control#6 comes to the same.)
* A reference at rest asks for no friction: the joint's own helps to hold it, and the error that it
  can leave is below f / Kp (impedance) or f / (M Kp) (computed torque).

Hence mode gravity has none: it has no reference, and someone's hand decides the velocity.
"""

from dynamics_node.control.task_laws import task_space


def gravity(terms, q, v, motion, gains):
    """Hold the arm wherever it is: no stiffness, no reference."""
    return terms.gravity(q)


def feedforward(terms, q, v, motion, gains):
    """Give what the reference needs, whatever the arm does; the drive's own loop does the rest."""
    return terms.moving(motion.q, motion.v, motion.a) + terms.friction(motion.v)


def computed_torque(terms, q, v, motion, gains):
    """Let the error behave as a mass on a spring, each joint by itself.

    One inverse dynamics with the commanded acceleration; M is never formed.

    Hutter 2017, eq. 3.75 to 3.77.
    """
    a = motion.a + gains.kp * terms.error(q, motion.q) + gains.kd * (motion.v - v)
    return terms.moving(q, v, a) + terms.friction(motion.v)


def impedance(terms, q, v, motion, gains):
    """Hold the arm on springs and dampers; gravity does not bend them (Hutter 2017, eq. 3.74)."""
    return _springs(terms, q, v, motion, gains) + terms.gravity(q) + terms.friction(motion.v)


def impedance_with_bias(terms, q, v, motion, gains):
    """Do the same, and make up for Coriolis and centrifugal torques too."""
    return _springs(terms, q, v, motion, gains) + terms.bias(q, v) + terms.friction(motion.v)


def _springs(terms, q, v, motion, gains):
    return gains.kp * terms.error(q, motion.q) + gains.kd * (motion.v - v)


JOINT_MODES = {
    'gravity': gravity,
    'feedforward': feedforward,
    'computed_torque': computed_torque,
    'impedance': impedance,
    'impedance_with_bias': impedance_with_bias,
}
WITH_REFERENCE = frozenset(JOINT_MODES) - {'gravity'}   # of joints
WITH_GAINS = WITH_REFERENCE - {'feedforward'}
TASK_SPACE = 'task_space'
MODES = {**JOINT_MODES, TASK_SPACE: task_space}
