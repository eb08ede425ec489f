"""Compute linkages with one degree of freedom by textbook formulas in complex numbers.

The plane is x + iz; t is the crank's angle from the x axis, w and alpha its rates. A prime is a
derivative by t, so every velocity is (...)' w. Lagrange with the one coordinate t,

    I(t) alpha + I'(t)/2 w^2 + V'(t) = torque on the crank,

where I is what the whole linkage weighs at the crank: sum of m |c'|^2 + J phi'^2 over its links,
c the centre of mass and phi the angle of each. Nothing here asks dynamics_node: the lengths,
masses and moments of inertia are those one reads in the URDF.
"""

from typing import NamedTuple

import numpy as np

G = 9.81  # [m/s^2]


class Slope(NamedTuple):
    """A quantity that moves with the crank: its first and second derivative by t."""

    first: complex
    second: complex


class Linkage(NamedTuple):
    """Where the links of a linkage are, at one crank angle."""

    angles: tuple    # of the bars behind the crank, from the x axis [rad]
    slopes: tuple    # Slope of q: of each coordinate of the URDF's tree, the crank's first
    I: float         # at the crank [kg m^2]
    I_slope: float
    V_slope: float   # [N m]

    def torque(self, w, alpha):
        """Return the torque on the crank [N m]."""
        return self.I * alpha + self.I_slope / 2.0 * w ** 2 + self.V_slope

    def acceleration(self, w, torque):
        """Return the angular acceleration of the crank [rad/s^2]."""
        return (torque - self.I_slope / 2.0 * w ** 2 - self.V_slope) / self.I


def bar(length, angle, slope):
    """Return how the tip of a bar moves against its foot, as the crank turns.

    r = l e^(i phi),  r' = i l phi' e^(i phi),  r'' = l (i phi'' - phi'^2) e^(i phi).
    """
    unit = length * np.exp(1j * angle)
    return Slope(1j * slope.first * unit, (1j * slope.second - slope.first ** 2) * unit)


def add(a, b):
    return Slope(a.first + b.first, a.second + b.second)


def lumped(moving):
    """Return I, I', V' of links (mass, J about the centre of mass, centre's Slope, turn's Slope).

    |c'|^2 has the derivative 2 Re(conj(c') c'').
    """
    inertia = sum(m * abs(c.first) ** 2 + J * turn.first ** 2 for m, J, c, turn in moving)
    slope = 2.0 * sum(m * (np.conj(c.first) * c.second).real + J * turn.first * turn.second
                      for m, J, c, turn in moving)
    weight = sum(m * G * c.first.imag for m, _, c, _ in moving)
    return inertia, slope, weight


CRANK = Slope(1.0, 0.0)
REST = Slope(0.0, 0.0)


class FourBar:
    """four_bar.urdf: a e^(it) + b e^(i t3) = d + c e^(i t4), the open branch (rocker right)."""

    a, b, c, d = 0.12, 0.34, 0.28, 0.30     # crank, coupler, rocker, ground [m]
    masses = 0.25, 0.5, 0.45                # [kg]
    J = 0.000309, 0.00482917, 0.0029562     # [kg m^2]
    upright = np.pi / 2                     # t where q = 0

    def at(self, t):
        """Return the Linkage at crank angle t."""
        a, b, c = self.a, self.b, self.c
        t3, t4 = self._angles(t)
        # a sin(t4 - t) / (b sin(t3 - t4)) and a sin(t - t3) / (c sin(t4 - t3)): Norton, eq. 6.18
        first3 = a * np.sin(t4 - t) / (b * np.sin(t3 - t4))
        first4 = a * np.sin(t - t3) / (c * np.sin(t4 - t3))
        # the loop's second derivative, seen across the rocker and across the coupler
        rest = (-a * np.exp(1j * t) - b * first3 ** 2 * np.exp(1j * t3)
                + c * first4 ** 2 * np.exp(1j * t4))
        second3 = -(rest * np.exp(-1j * t4)).real / (b * (1j * np.exp(1j * (t3 - t4))).real)
        second4 = (rest * np.exp(-1j * t3)).real / (c * (1j * np.exp(1j * (t4 - t3))).real)
        turn3, turn4 = Slope(first3, second3), Slope(first4, second4)
        links = zip(self.masses, self.J,
                    (bar(a / 2, t, CRANK), add(bar(a, t, CRANK), bar(b / 2, t3, turn3)),
                     bar(c / 2, t4, turn4)),
                    (CRANK, turn3, turn4))
        # the tree's coordinates: the crank, the coupler against the crank, the rocker
        slopes = CRANK, Slope(first3 - 1.0, second3), turn4
        return Linkage((t3, t4), slopes, *lumped([*links]))

    def _angles(self, t):
        """Return the angles of coupler and rocker: the triangle over the diagonal A-D."""
        A = self.a * np.exp(1j * t)
        diagonal = self.d - A
        s = abs(diagonal)
        # law of cosines at A, the tip on the left of the diagonal
        at_A = np.arccos((self.b ** 2 + s ** 2 - self.c ** 2) / (2.0 * self.b * s))
        t3 = np.angle(diagonal) + at_A
        return t3, np.angle(A + self.b * np.exp(1j * t3) - self.d)

    def coordinates(self, t):
        """Return q of the tree: zero where the crank is upright."""
        t3, t4 = self._angles(t)
        zero3 = np.arctan2(0.16, 0.30)
        return np.array([t - self.upright, (t3 - zero3) - (t - self.upright), t4 - self.upright])


class SliderCrank:
    """slider_crank.urdf: r e^(it) + l e^(i p) = x, with the rod's angle p and the slider at x."""

    r, l = 0.07, 0.25               # crank, rod [m]
    masses = 0.4, 0.35, 0.6         # [kg]
    J = 0.000185833, 0.00183167     # [kg m^2]
    upright = np.pi / 2

    def at(self, t):
        """Return the Linkage at crank angle t."""
        r, l = self.r, self.l
        p = -np.arcsin(r / l * np.sin(t))
        first = -r * np.cos(t) / (l * np.cos(p))
        second = (r * np.sin(t) + l * np.sin(p) * first ** 2) / (l * np.cos(p))
        turn = Slope(first, second)
        slider = add(bar(r, t, CRANK), bar(l, p, turn))  # along x only, which the test asserts
        links = [(self.masses[0], self.J[0], bar(r / 2, t, CRANK), CRANK),
                 (self.masses[1], self.J[1], add(bar(r, t, CRANK), bar(l / 2, p, turn)), turn),
                 (self.masses[2], 0.0, slider, REST)]
        slopes = (CRANK, Slope(first - 1.0, second),
                  Slope(slider.first.real, slider.second.real))
        return Linkage((p,), slopes, *lumped(links))

    def coordinates(self, t):
        """Return q of the tree: zero where the crank is upright."""
        p = -np.arcsin(self.r / self.l * np.sin(t))
        zero = -np.arcsin(self.r / self.l)
        x = self.r * np.cos(t) + self.l * np.cos(p)
        return np.array([t - self.upright, (p - zero) - (t - self.upright), x - 0.24])
