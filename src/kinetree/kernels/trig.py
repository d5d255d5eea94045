"""Sine and cosine of one angle together: a joint needs both, and libm's two calls were a third of its time."""

from __future__ import annotations

import math

from .._jit import exact_leaf

# pi/2 in three parts of 33 bits and less, so that the products with small integers are exact (Cody and Waite 1980)
QUARTER_1 = 1.57079632673412561417e00
QUARTER_2 = 6.07710050630396597660e-11
QUARTER_3 = 2.02226624879595063154e-21
QUARTERS = 2.0 / math.pi
FAR = 1e5  # rad: beyond this the products are not exact any more

# The minimax polynomials of fdlibm's k_sin.c and k_cos.c (Sun Microsystems 1993) on |y| <= pi/4
S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@exact_leaf
def sincos(angle):
    """Return (sin, cos) of an angle [rad], each within 2.3e-16 of the true value."""
    if not abs(angle) < FAR:
        if abs(angle) == math.inf:  # where kernels run as plain Python, math.sin would raise
            return math.nan, math.nan
        return math.sin(angle), math.cos(angle)
    turns = math.floor(angle * QUARTERS + 0.5)
    y = ((angle - turns * QUARTER_1) - turns * QUARTER_2) - turns * QUARTER_3
    z = y * y
    s = y + y * z * (S1 + z * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))))
    c = 1.0 - 0.5 * z + z * z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
    quadrant = int(turns) & 3
    if quadrant & 1:
        s, c = c, s
    if quadrant & 2:
        s = -s
    if (quadrant + 1) & 2:
        c = -c
    return s, c
