"""Compute inverse and forward dynamics by recursions of the DeNOC matrices (Saha 1999).

The recursions carry out products with N_l and N_d body by body: N_l outwards (eq. 12), N_l' inwards
(eq. 30). Forward dynamics factors N' M N = U D U' (Saha 1997); D holds articulated inertias, each
the inertia that a joint moves while all joints beyond it are free. The results are those of
inverse_dynamics.py and forward_dynamics.py, by other equations in other coordinates.
"""

import numpy as np

from dynamics_node.algorithms.denoc import denoc, links_at, propagation
from dynamics_node.algorithms.passive_torque import passive_torque
from dynamics_node.algorithms.tree_recursions import add_entries
from dynamics_node.model.model import WORLD, Model
from dynamics_node.spatial.solve import factor, solve_factored


def denoc_inverse_dynamics(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray,
                           wrenches: np.ndarray | None = None) -> np.ndarray:
    """Return tau = N' (M dt/dt + dM/dt t - w) + armature a + friction, (nv,).

    :param wrenches: (bodies, 6) as for `inverse_dynamics`.
    """
    links = links_at(model, q, v, wrenches)
    t: list[np.ndarray] = []
    w = []
    rate: list[np.ndarray] = []
    for body, link in zip(model.bodies, links):
        v_i, a_i = v[body.v], a[body.v]
        twist, twist_rate = link.p @ v_i, link.p @ a_i + link.p_rate @ v_i
        if body.parent != WORLD:
            B, B_rate = propagation(link, links[body.parent])
            twist_rate = twist_rate + B @ rate[body.parent] + B_rate @ t[body.parent]
            twist = twist + B @ t[body.parent]                                # (12)
        t.append(twist)
        rate.append(twist_rate)
        w.append(link.M @ twist_rate + link.M_rate @ twist - link.w)          # (7)
    tau = [0.0] * model.nv
    for i in reversed(range(len(links))):
        body, link = model.bodies[i], links[i]
        add_entries(tau, body.v, link.p.T @ w[i])                             # (30)
        if body.parent != WORLD:
            B, _ = propagation(link, links[body.parent])
            w[body.parent] = w[body.parent] + B.T @ w[i]
    return np.array(tau) + model.armature * a + passive_torque(model, q, v)


def denoc_forward_dynamics(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray,
                           wrenches: np.ndarray | None = None) -> np.ndarray:
    """Return the acceleration under the torques tau, (nv,): inverse of denoc_inverse_dynamics.

    Mimic joints couple joints of different branches: then the matrix I of `denoc` is factored.
    """
    force = tau - denoc_inverse_dynamics(model, q, v, np.zeros(model.nv), wrenches)
    if model.has_mimic:
        return solve_factored(*factor(denoc(model, q, v).inertia), force)
    links = links_at(model, q, v)
    M, eta = [link.M for link in links], [np.zeros(6) for _ in links]
    joints: list = [None] * len(links)
    for i in reversed(range(len(links))):                                     # U D x = force
        body, p = model.bodies[i], links[i].p
        psi = M[i] @ p
        L, d = factor(p.T @ psi + np.diag(model.armature[body.v]))
        rest = force[body.v] - p.T @ eta[i]
        joints[i] = psi, L, d, rest
        if body.parent != WORLD:
            B, _ = propagation(links[i], links[body.parent])
            free = M[i] - psi @ solve_factored(L, d, psi.T)
            M[body.parent] = M[body.parent] + B.T @ free @ B
            eta[body.parent] = eta[body.parent] + B.T @ (
                eta[i] + psi @ solve_factored(L, d, rest))
    a: list = [0.0] * model.nv
    mu: list[np.ndarray] = []
    for i, (body, link) in enumerate(zip(model.bodies, links)):               # U' a = x
        psi, L, d, rest = joints[i]
        carried = (np.zeros(6) if body.parent == WORLD
                   else propagation(link, links[body.parent])[0] @ mu[body.parent])
        own = solve_factored(L, d, rest - psi.T @ carried)
        add_entries(a, body.v, own)
        mu.append(carried + link.p @ own)
    return np.array(a)
