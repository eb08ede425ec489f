"""Define sine and cosine in LLVM IR, for one number or several lanes at once.

x = k pi/2 + r with |r| <= pi/4, then the polynomials of fdlibm (k_sin.c, k_cos.c), which are good
to less than an ulp. pi/2 is subtracted in three parts of 33, 33 and 53 bits: k times the first two
is exact for |k| < 2^20. Beyond LIMIT, and for NaN, libm is called.
"""

from dynamics_node.compiler.ir_text import Dialect, Emitter

LIMIT = 1e5
TWO_OVER_PI = 6.36619772367581382433e-01
MAGIC = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
PI_HALF = (1.57079632673412561417e+00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
SIN = (1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
       -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01)
COS = (-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
       2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02)


def define_sincos(ir: Dialect, lanes: int) -> str:
    """Return the IR of @sincos: (<lanes> x) -> {sine, cosine}, and of its libm fallback.

    Not inlined: with inlined copies TALOS takes twice the time to compile its gravity torque, and
    kernels are up to 30 % slower (the mass matrix of Panda; none is faster).
    """
    T, I, mask = ir.type(lanes), ir.integer(lanes), ir.boolean(lanes)
    e = ir.emitter(lanes, prefix='f')
    shifted = e.fma('%x', ir.const(TWO_OVER_PI, lanes), ir.const(MAGIC, lanes))
    k = e.binary('fsub', shifted, ir.const(MAGIC, lanes))
    minus_k = e.line(f'fneg {T} {k}')
    r = '%x'
    for part in PI_HALF:
        r = e.fma(minus_k, ir.const(part, lanes), r)
    z = e.binary('fmul', r, r)
    sine, cosine = ir.const(SIN[0], lanes), ir.const(COS[0], lanes)
    for coefficient in SIN[1:]:
        sine = e.fma(sine, z, ir.const(coefficient, lanes))
    for coefficient in COS[1:]:
        cosine = e.fma(cosine, z, ir.const(coefficient, lanes))
    sine = e.fma(e.binary('fmul', z, r), sine, r)                    # r + r z S(z)
    half = e.fma(ir.const(-0.5, lanes), z, ir.const(1.0, lanes))     # 1 - z/2
    # 1 - z/2 rounds: its error (1 - half) - z/2 is added back with the polynomial
    lost = e.fma(ir.const(-0.5, lanes), z,
                 e.binary('fsub', ir.const(1.0, lanes), half))
    cosine = e.binary('fadd', half, e.fma(e.binary('fmul', z, z), cosine, lost))
    bits = e.line(f'bitcast {T} {shifted} to {I}')
    one = ir.int_const(1, lanes)
    odd_bit = e.line(f'and {I} {bits}, {one}')
    odd = e.line(f'icmp ne {I} {odd_bit}, {ir.int_const(0, lanes)}')
    s = e.line(f'select {mask} {odd}, {T} {cosine}, {T} {sine}')
    c = e.line(f'select {mask} {odd}, {T} {sine}, {T} {cosine}')
    s = _flip(e, ir, s, bits, lanes)
    c = _flip(e, ir, c, e.line(f'add {I} {bits}, {one}'), lanes)
    magnitude = e.call('fabs', '%x')
    large = e.line(f'fcmp ugt {T} {magnitude}, {ir.const(LIMIT, lanes)}')
    any_large = large
    if lanes > 1:
        packed = e.line(f'bitcast {mask} {large} to i{lanes}')
        any_large = e.line(f'icmp ne i{lanes} {packed}, 0')
    pair = f'{{{T}, {T}}}'
    r0 = e.line(f'insertvalue {pair} undef, {T} {s}, 0')
    r1 = e.line(f'insertvalue {pair} {r0}, {T} {c}, 1')
    # libm for large lanes only: the bits of a lane must not depend on its neighbours
    libm = ir.emitter(lanes, prefix='m')
    slow = libm.line(f'call {pair} @sincos_libm{lanes}({T} %x)')
    mixed = 'undef'
    for index, fast in enumerate((s, c)):
        value = libm.line(f'extractvalue {pair} {slow}, {index}')
        value = libm.line(f'select {mask} {large}, {T} {value}, {T} {fast}')
        mixed = libm.line(f'insertvalue {pair} {mixed}, {T} {value}, {index}')
    body = '\n'.join([
        f'define internal {pair} @sincos{lanes}({T} %x) noinline {{', *e.lines,
        f'  br i1 {any_large}, label %libm, label %fast, !prof !0', 'libm:', *libm.lines,
        f'  ret {pair} {mixed}', 'fast:', f'  ret {pair} {r1}', '}'])
    return body + '\n' + _define_libm(ir, lanes)


def _flip(e: Emitter, ir: Dialect, value: str, quadrant: str, lanes: int) -> str:
    """Return the value with its sign changed where bit 1 of the quadrant is set."""
    T, I = ir.type(lanes), ir.integer(lanes)
    bit = e.line(f'and {I} {quadrant}, {ir.int_const(2, lanes)}')
    sign = e.line(f'shl {I} {bit}, {ir.int_const(62, lanes)}')
    raw = e.line(f'bitcast {T} {value} to {I}')
    flipped = e.line(f'xor {I} {raw}, {sign}')
    return e.line(f'bitcast {I} {flipped} to {T}')


def _define_libm(ir: Dialect, lanes: int) -> str:
    T = ir.type(lanes)
    e = ir.emitter(lanes, prefix='m')
    results = {'sin': 'undef', 'cos': 'undef'}
    for lane in range(lanes):
        x = '%x' if lanes == 1 else e.line(f'extractelement {T} %x, i32 {lane}')
        for name in results:
            value = e.line(f'call double @{name}(double {x})')
            results[name] = value if lanes == 1 else e.line(
                f'insertelement {T} {results[name]}, double {value}, i32 {lane}')
    pair = f'{{{T}, {T}}}'
    r0 = e.line(f'insertvalue {pair} undef, {T} {results["sin"]}, 0')
    r1 = e.line(f'insertvalue {pair} {r0}, {T} {results["cos"]}, 1')
    return '\n'.join([f'define internal {pair} @sincos_libm{lanes}({T} %x) noinline cold {{',
                      *e.lines, f'  ret {pair} {r1}', '}'])
