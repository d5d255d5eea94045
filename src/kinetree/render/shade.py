"""The colour of each pixel: sun with shadow, light of the sky, highlight, a checkered floor, sky and fog."""

from __future__ import annotations

import math

from .._jit import leaf, parallel, prange
from . import layout as at
from .hit import normal_at
from .shadow import body_shadow, floor_shadow


@leaf
def _stripes(x, width):
    """Square wave of period 2, +1 and -1, averaged over `width` about x."""
    a = (x - 0.5 * width) * 0.5
    b = (x + 0.5 * width) * 0.5
    return 2.0 * (abs(a - math.floor(a) - 0.5) - abs(b - math.floor(b) - 0.5)) / width


@leaf
def _in_light(shadow, x, y, z):
    """Texel coordinates and depth in the light's map of a point in view axes."""
    lx = shadow[0] * x + shadow[1] * y + shadow[2] * z + shadow[9]
    ly = shadow[3] * x + shadow[4] * y + shadow[5] * z + shadow[10]
    lz = shadow[6] * x + shadow[7] * y + shadow[8] * z + shadow[11]
    return lx / shadow[at.TEXEL] + shadow[at.LIGHT_CX], ly / shadow[at.TEXEL] + shadow[at.LIGHT_CY], lz


@leaf
def _sky(style, rise, i):
    """Colour of the sky, channel i, where the sine of the elevation is `rise`."""
    s = min(max(rise * 2.5, 0.0), 1.0)
    s = s * (2.0 - s)
    return style[at.HORIZON + i] + (style[at.ZENITH + i] - style[at.HORIZON + i]) * s


@leaf
def _calm(kinds, shapes, k, nx, ny, nz, u, v, pixels):
    """Turn the normal of a body that is only `pixels` in radius toward the eye.

    One normal in a pixel is an accident where the surface turns within it; the middle of what is seen is steady.
    """
    ex, ey, ez = -u, -v, -1.0
    if kinds[k] == at.CAPSULE and shapes[k, at.LENGTH2] > 0.0:
        ax, ay, az = shapes[k, at.AXIS], shapes[k, at.AXIS + 1], shapes[k, at.AXIS + 2]
        s = (ax * ex + ay * ey + az * ez) / shapes[k, at.LENGTH2]
        ex, ey, ez = ex - s * ax, ey - s * ay, ez - s * az
    own = min(max(0.5 * pixels - 0.25, 0.0), 1.0)
    rest = (1.0 - own) / math.sqrt(ex * ex + ey * ey + ez * ez + 1e-12)
    nx, ny, nz = own * nx + rest * ex, own * ny + rest * ey, own * nz + rest * ez
    r = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz + 1e-12)
    return nx * r, ny * r, nz * r


@parallel
def shade(kinds, shapes, colors, view, style, shadow, depths, keys, light_depths, pyramid, levels, out):
    """Write the linear RGB of what each pixel shows at its centre."""
    height, width = depths.shape
    size = light_depths.shape[0]
    scale = view[at.SCALE]
    upx, upy, upz = view[at.GROUND], view[at.GROUND + 1], view[at.GROUND + 2]
    sx, sy, sz = style[at.SUN], style[at.SUN + 1], style[at.SUN + 2]
    for y in prange(height):
        v = (y + 0.5 - view[at.CY]) * scale
        for x in range(width):
            u = (x + 0.5 - view[at.CX]) * scale
            length = math.sqrt(u * u + v * v + 1.0)
            rise = (upx * u + upy * v + upz) / length
            key = keys[y, x]
            if key == at.SKY:
                for i in range(3):
                    out[y, x, i] = _sky(style, rise, i)
                continue
            depth = float(depths[y, x])
            px, py, pz = u * depth, v * depth, depth
            distance = depth * length
            if key == at.FLOOR:
                lx, ly, _ = _in_light(shadow, px, py, pz)
                blocked, contact = floor_shadow(shadow, pyramid, size // 2, levels, lx, ly)
                wx = view[0] * px + view[3] * py + view[6] * pz
                wy = view[1] * px + view[4] * py + view[7] * pz
                flat = math.sqrt(wx * wx + wy * wy) + 1e-12
                across = depth * scale
                along = across / max(abs(rise), 1e-4)
                cell = 1.0 / style[at.CELL]
                fx = (across + (along - across) * abs(wx) / flat) * cell + 1e-3
                fy = (across + (along - across) * abs(wy) / flat) * cell + 1e-3
                check = _stripes((wx + view[at.EYE]) * cell, fx) * _stripes((wy + view[at.EYE + 1]) * cell, fy)
                check = 0.5 + 0.5 * check
                facing = upx * sx + upy * sy + upz * sz
                haze = max(distance - style[at.FLOOR_CLEAR], 0.0) / style[at.FLOOR_FADE]
                fade = math.exp(-haze * haze)
                for i in range(3):
                    base = style[at.FLOOR_DARK + i] + (style[at.FLOOR_LIGHT + i] - style[at.FLOOR_DARK + i]) * check
                    light = facing * style[at.SUN_COLOR + i] * (1.0 - blocked)
                    light += style[at.AMBIENT_SKY + i] * (1.0 - 0.55 * contact)
                    far = style[at.HORIZON + i]
                    out[y, x, i] = min(far + (base * light - far) * fade, 1.0)
                continue
            k = key // at.FACES
            nx, ny, nz = normal_at(kinds, shapes, key, px, py, pz)
            if kinds[k] != at.BOX and shapes[k, at.RADIUS] < 2.5 * depth * scale:
                nx, ny, nz = _calm(kinds, shapes, k, nx, ny, nz, u, v, shapes[k, at.RADIUS] / (depth * scale))
            facing = nx * sx + ny * sy + nz * sz
            blocked = 0.0
            if facing > 0.0:
                lift = 1.5 * shadow[at.TEXEL]
                lx, ly, lz = _in_light(shadow, px + lift * nx, py + lift * ny, pz + lift * nz)
                blocked = body_shadow(shadow, light_depths, lx, ly, lz)
            toward = -(nx * u + ny * v + nz) / length
            hx, hy, hz = sx - u / length, sy - v / length, sz - 1.0 / length
            shine = max((nx * hx + ny * hy + nz * hz) / math.sqrt(hx * hx + hy * hy + hz * hz + 1e-12), 0.0)
            shine *= shine
            shine *= shine
            shine *= shine
            shine *= shine
            shine *= shine
            sun = max(facing, 0.0) * (1.0 - blocked)
            top = 0.5 + 0.5 * (nx * upx + ny * upy + nz * upz)
            near_floor = 0.0
            if view[at.HEIGHT] == view[at.HEIGHT]:
                above = max(upx * px + upy * py + upz * pz - view[at.HEIGHT], 0.0)
                near_floor = (1.0 - top) * math.exp(-above / style[at.REACH])
            rim = (1.0 - max(toward, 0.0)) ** 4
            ambient = (0.75 + 0.25 * toward) * (1.0 - 0.6 * near_floor)
            gloss = style[at.GLOSS] * shine * sun
            haze = max(distance - style[at.FOG_START], 0.0) / style[at.FOG_LENGTH]
            clear = math.exp(-haze * haze)
            for i in range(3):
                sky = style[at.AMBIENT_GROUND + i] + (style[at.AMBIENT_SKY + i] - style[at.AMBIENT_GROUND + i]) * top
                value = colors[k, i] * (sun * style[at.SUN_COLOR + i] + ambient * sky)
                value += gloss + 0.08 * rim * style[at.ZENITH + i] * (1.0 - near_floor)
                far = style[at.HORIZON + i]
                # Brighter than white would spoil the means of the antialiasing.
                out[y, x, i] = min(far + (value - far) * clear, 1.0)
