"""Which acceleration brings drifted constraints back? (Baumgarte)"""


def stabilised_gamma(found, v, stabilisation=None):
    r"""Return what A a should be, with the sign of gamma: A a + wanted = 0, (m,).

    wanted = gamma + 2 alpha A v + beta^2 residual: the residual then dies out like an oscillator,
    without overshoot where alpha = beta. Without stabilisation, gamma alone: what has drifted
    stays.

    :param found: Rows (residual, A, gamma) at the state.
    :param stabilisation: (alpha, beta) [1/s], or None for none.

    Baumgarte 1972.
    """
    if stabilisation is None:
        return found.gamma
    alpha, beta = stabilisation
    return found.gamma + (2.0 * alpha) * (found.A @ v) + (beta * beta) * found.residual
