"""The packed arrays that the kernels of the ray-caster share.

View axes: x to the right of the picture, y down, z away from the eye; a depth is a z. A ray through the picture at
pixel coordinates (x, y) runs through u = (x - CX) SCALE, v = (y - CY) SCALE: a perspective one from the eye along
(u, v, 1), a parallel one from (u, v, 0) along (0, 0, 1), so that the parameter of a hit is its depth in both.
"""

# --- kinds of primitives, as in model/shapes.py
BOX = 0
SPHERE = 1
CAPSULE = 2
PLANE = 3

# --- view: float64 (VIEW,)
TURN = 0  # 9: rotation world -> view, row-major
EYE = 9  # 3: origin of the view in the world [m]
SCALE = 12  # pixel size: at depth 1 in a perspective view, anywhere in a parallel one
CX = 13  # pixel coordinates of the axis
CY = 14
PERSPECTIVE = 15  # 1 perspective, 0 parallel
NEAR = 16  # nothing nearer is seen [m]
LEAST = 17  # radius in pixels below which a primitive is not drawn thinner
GROUND = 18  # 3: upward normal of the ground in view axes
HEIGHT = 21  # the ground is where normal . point = HEIGHT [m]; NaN: no ground
VIEW = 22

# --- primitives in view axes: float64 (n, PRIMITIVE)
CENTER = 0  # 3: box or sphere: centre; capsule: centre of the first half ball
AXIS = 3  # 3: capsule: from there to the centre of the second
RADIUS = 6
LENGTH2 = 7  # squared length of the axis
HALF = 3  # 3: box: half edges
ROWS = 6  # 9: box: its axes in view axes, one a row
PRIMITIVE = 15

# --- what a pixel shows: FACES * primitive + face, or one of
SKY = -1
FLOOR = -2
FACES = 8  # face 0 is a round surface, 1..6 are the sides of a box

TILE = 16  # pixels

# --- style: float64 (STYLE,), colours in linear RGB
SUN = 0  # 3: direction to the light in view axes
SUN_COLOR = 3  # 3: linear RGB
AMBIENT_SKY = 6  # 3: light from above
AMBIENT_GROUND = 9  # 3: light from below
HORIZON = 12  # 3: colour of the sky at the horizon
ZENITH = 15  # 3: and above
FLOOR_DARK = 18  # 3: one colour of the checker
FLOOR_LIGHT = 21  # 3: the other
CELL = 24  # edge of a field of the checker [m]
FLOOR_FADE = 25  # distance over which the floor fades into the horizon [m]
FOG_START = 26  # distance from the eye where the fog begins [m]
FOG_LENGTH = 27  # [m]
GLOSS = 28  # strength of the highlight
REACH = 29  # height above the floor over which it shades bodies [m]
FLOOR_CLEAR = 30  # distance up to which the floor does not fade [m]
STYLE = 31

# --- shadow: float64 (SHADOW,)
LIGHT = 0  # 9 + 3: rotation and offset from view axes of the eye to those of the light
TEXEL = 12  # [m]
LIGHT_CX = 13
LIGHT_CY = 14
PENUMBRA = 15  # width of the light over its distance
SHADOW = 16
