"""Test the accuracy of the compiled sine and cosine against extended precision."""

import ctypes

import numpy as np
import pytest
from support.compiled_programs import FMA, FROM_FALLBACK, LANES, Kernel

from dynamics_node.compiler.sincos import LIMIT

# 1.45 ulp were found up to 1e3, 2.3 up to LIMIT, of 1.2 million angles each.
ULPS, ULPS_TO_LIMIT = 1.5, 2.5
PI_HALF = np.longdouble('1.57079632679489661923132169163975144')
if np.finfo(np.longdouble).eps == np.finfo(float).eps:  # no longer number here: libm's 1/2 ulp
    ULPS, ULPS_TO_LIMIT = ULPS + 0.5, ULPS_TO_LIMIT + 0.5


@pytest.fixture(scope='module')
def kernels():
    """At every width, with fma and without."""
    return {(lanes, fma): Kernel(lambda x: (np.sin(x), np.cos(x)), {'x': (1,)}, lanes, fma)
            for lanes in LANES for fma in FMA}


def of(kernel, x):
    sine, cosine = kernel.caller()(np.ascontiguousarray(x.reshape(-1, 1)))
    return sine[:, 0], cosine[:, 0]


def ulps(got, x, function):
    exact = function(x.astype(np.longdouble))
    return float((np.abs(got - exact) / np.spacing(np.abs(exact.astype(float)))).max())


def angles():
    rng = np.random.default_rng(0)
    near = np.arange(-637, 638) * PI_HALF
    near = near[np.abs(near) > 0].astype(float)
    return {
        'a turn': rng.uniform(-np.pi, np.pi, 20000),
        'many turns': rng.uniform(-1e3, 1e3, 20000),
        'at multiples of pi / 2': near,
        'beside multiples of pi / 2': np.concatenate([np.nextafter(near, np.inf),
                                                      np.nextafter(near, -np.inf)]),
        'around multiples of pi / 2': np.concatenate([near * (1.0 + e) for e in (
            -1e-6, 1e-6, -1e-9, 1e-9, -1e-12, 1e-12, -1e-15, 1e-15)]),
        'tiny': np.concatenate([10.0 ** rng.uniform(-300, 0, 5000), [5e-324, -5e-324, 2.3e-308]]),
        'around pi / 4': np.pi / 4 * rng.uniform(1 - 1e-6, 1 + 1e-6, 5000),
    }


@pytest.mark.parametrize('where', angles())
def test_sine_and_cosine_are_good_to_an_ulp_and_a_half(kernels, where):
    """Of every size that a joint can take."""
    x = angles()[where]
    for kernel in kernels.values():
        sine, cosine = of(kernel, x)
        assert ulps(sine, x, np.sin) < ULPS
        assert ulps(cosine, x, np.cos) < ULPS


def test_large_angles_are_good_to_three_ulps(kernels):
    """Up to LIMIT, where libm takes over."""
    rng = np.random.default_rng(1)
    near = (rng.integers(-63000, 63000, 5000) * PI_HALF).astype(float)
    x = np.concatenate([rng.uniform(-LIMIT, LIMIT, 20000), near[near != 0.0], [LIMIT, -LIMIT]])
    for kernel in kernels.values():
        sine, cosine = of(kernel, x)
        assert ulps(sine, x, np.sin) < ULPS_TO_LIMIT
        assert ulps(cosine, x, np.cos) < ULPS_TO_LIMIT


def test_zero_has_sine_zero_and_cosine_one(kernels):
    """Of either sign."""
    for kernel in kernels.values():
        sine, cosine = of(kernel, np.array([0.0, -0.0] * 5))
        assert (sine == 0.0).all()
        assert (cosine == 1.0).all()


def test_every_width_gives_the_same_bits(kernels):
    """A single state packs its joints, a batch its states, with the same bits."""
    x = np.concatenate([*angles().values(), np.linspace(-LIMIT, LIMIT, 1000), [1e6, -1e300]])
    for fma in FMA:
        reference = of(kernels[4, fma], x)
        for lanes in LANES:
            for got, want in zip(of(kernels[lanes, fma], x), reference):
                np.testing.assert_array_equal(got, want)
        single = kernels[8, fma].caller()
        for k in range(0, len(x), 997):
            assert [part[0] for part in single(x[k:k + 1])] == [part[k] for part in reference]


def test_libm_computes_angles_beyond_the_limit(kernels):
    """To the bit; neighbours in the register keep their own."""
    far = np.array([np.nextafter(LIMIT, np.inf), -1e6, 1e10, 1e22, -1.7e308])
    libm = ctypes.CDLL(None)
    libm.sin.restype = libm.cos.restype = ctypes.c_double
    near = np.random.default_rng(2).uniform(-3.0, 3.0, 1000)
    mixed = np.stack([np.resize(far, 1000), near], axis=1).ravel()
    for kernel in kernels.values():
        for got, function, want in zip(of(kernel, mixed), (libm.sin, libm.cos), of(kernel, near)):
            assert got[:10:2].tolist() == [function(ctypes.c_double(angle)) for angle in far]
            np.testing.assert_array_equal(got[1::2], want)


@pytest.mark.parametrize('value', [np.inf, -np.inf, np.nan])
def test_angles_that_are_not_finite_are_flagged(kernels, value):
    """One among many, or alone."""
    for kernel in kernels.values():
        x = np.zeros((10, 1))
        x[6] = value
        assert kernel.caller()(x) is FROM_FALLBACK
        assert kernel.caller()(x[6]) is FROM_FALLBACK
