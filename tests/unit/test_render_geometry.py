"""What the ray-caster sees is where geometry says it is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.raycast import BOX, CAPSULE, SPHERE, distance_to, march, rays_of

from kinetree.errors import ArgumentError
from kinetree.render import Camera, Renderer, Scene
from kinetree.render import layout as at


def seen(scene, camera, width, height, ground=None):
    """Draw, and return depth and primitive of every pixel, -1 for the sky and -2 for the floor."""
    renderer = Renderer(width, height)
    renderer.draw(scene, camera, ground=ground)
    keys = renderer.keys
    return renderer.depths.astype(float), np.where(keys >= 0, keys // at.FACES, keys)


def random_scene(seed, n):
    """Make solids of all kinds in a ball of 2 m, at random."""
    rng = np.random.default_rng(seed)
    turns = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    turns[np.linalg.det(turns) < 0, :, 0] *= -1
    poses = np.concatenate((turns.reshape(n, 9), rng.uniform(-1.2, 1.2, (n, 3))), axis=1)
    kinds = np.array([BOX, SPHERE, CAPSULE] * n)[:n]
    return Scene(kinds, rng.uniform(0.1, 0.7, (n, 3)), poses)


@pytest.mark.parametrize("seed", [0, 1])
def test_every_pixel_shows_the_solid_and_depth_that_walking_along_its_ray_finds(seed):
    scene = random_scene(seed, 12)
    eye, target = np.array([3.0, -4.0, 2.0]), np.array([0.1, 0.0, -0.1])
    width, height = 48, 36
    depths, owners = seen(scene, Camera(eye, target, fov=40), width, height)
    rays = rays_of(eye, target, 40, width, height)
    expected, expected_owners = march(scene.kinds, scene.sizes, scene.poses, eye, rays)
    expected, expected_owners = expected.reshape(height, width), expected_owners.reshape(height, width)
    assert (expected_owners >= 0).mean() > 0.15
    same = owners == expected_owners
    # Only a ray that grazes a surface within rounding may be told apart.
    assert same.mean() > 0.999, f"{(~same).sum()} pixels show another solid"
    hits = same & (owners >= 0)
    # Depths are kept in single precision (6e-8); walking stops 1e-10 short, more at grazing incidence.
    np.testing.assert_allclose(depths[hits], expected[hits], rtol=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_solids_beside_and_around_the_eye_are_seen_where_they_are(seed):
    rng = np.random.default_rng(seed)
    scene = random_scene(seed, 24)
    scene.sizes *= (0.6, 2.0, 0.6)
    eye, target = np.zeros(3), rng.normal(size=3) * (1, 1, 0.3)
    # No solid may hold the eye: from inside it is not seen.
    free = [distance_to(*solid, eye[None])[0] > 0.02 for solid in zip(scene.kinds, scene.sizes, scene.poses)]
    scene = Scene(scene.kinds[free], scene.sizes[free], scene.poses[free])
    _, owners = seen(scene, Camera(eye, target, fov=100), 32, 24)
    rays = rays_of(eye, target, 100, 32, 24)
    _, expected_owners = march(scene.kinds, scene.sizes, scene.poses, eye, rays)
    same = owners.ravel() == expected_owners
    assert (expected_owners >= 0).any()
    assert same.mean() > 0.99, f"{(~same).sum()} pixels show another solid"


def test_a_ball_covers_the_area_of_its_cone_and_its_near_pole_is_in_the_middle():
    width = height = 200
    scene = Scene().add_sphere((0, 0, 0), 0.5)
    depths, owners = seen(scene, Camera((0, -4, 0), (0, 0, 0), fov=20), width, height)
    pixel = 2 * np.tan(np.radians(10)) / height
    radius = 0.5 / np.sqrt(4**2 - 0.5**2) / pixel
    # The error of counting pixels in a disc of about 71 pixels radius is a few tens of its 15 900.
    assert (owners == 0).sum() == pytest.approx(np.pi * radius**2, rel=5e-3)
    assert depths[height // 2, width // 2] == pytest.approx(3.5, abs=1e-4)
    rows, columns = np.nonzero(owners == 0)
    assert (rows.mean(), columns.mean()) == pytest.approx((99.5, 99.5), abs=1e-9)


def test_the_floor_is_at_the_depth_of_a_plane_and_ends_at_the_horizon():
    width, height = 40, 30
    camera = Camera((0, -5, 2), (0, 0, 2), fov=60)
    depths, owners = seen(Scene(), camera, width, height, ground=0.5)
    assert (owners[: height // 2] == at.SKY).all()
    assert (owners[height // 2 :] == at.FLOOR).all()
    slopes = (np.arange(height // 2) + 0.5) * 2 * np.tan(np.radians(30)) / height
    np.testing.assert_allclose(depths[height // 2 :], np.repeat(1.5 / slopes[:, None], width, axis=1), rtol=1e-6)


def test_nearer_solids_hide_farther_ones_in_any_order():
    pictures = []
    for order in (1, -1):
        scene = Scene()
        for i in list(range(6))[::order]:
            scene.add_sphere((0.1 * i, 0.7 * i, 0), 0.5, (0.1 * i, 0.5, 1 - 0.1 * i))
        pictures.append(Renderer(64, 48).draw(scene, Camera((0, -5, 1), (0, 0, 0)), ground=-0.6))
    np.testing.assert_array_equal(*pictures)


def test_the_picture_does_not_change_when_everything_moves_a_thousand_kilometres():
    # Checkers of 20 cm keep their places; single precision is used for depths only, which count from the eye.
    pictures = []
    for shift in (0.0, 1e6):
        scene = random_scene(3, 6)
        scene.poses[:, 9] += shift
        camera = Camera((3 + shift, -4, 2), (shift, 0, 0))
        pictures.append(Renderer(64, 48).draw(scene, camera, ground=-2.0).astype(int))
    assert np.abs(pictures[0] - pictures[1]).max() <= 2


def test_an_eye_inside_a_solid_looks_through_it_and_solids_behind_are_not_seen():
    scene = Scene().add_sphere((0, 0, 0), 1.0).add_box((1, 1, 1), (0, -5, 0)).add_capsule((0, -9, 0), (0, -8, 0), 0.3)
    scene.add_sphere((0, 3, 0), 0.5)
    depths, owners = seen(scene, Camera((0, 0, 0), (0, 1, 0), fov=60), 40, 30)
    assert set(np.unique(owners)) == {-1, 3}
    assert depths[15, 20] == pytest.approx(2.5, abs=0.01)


def test_a_capsule_seen_along_its_axis_is_a_disc():
    scene = Scene().add_capsule((0, -1, 0), (0, 1, 0), 0.4)
    depths, owners = seen(scene, Camera((0, -5, 0), (0, 0, 0), fov=20), 101, 101)
    assert depths[50, 50] == pytest.approx(3.6, abs=1e-5)
    pixel = 2 * np.tan(np.radians(10)) / 101
    assert (owners == 0).sum() == pytest.approx(np.pi * (0.4 / np.sqrt(16 - 0.16) / pixel) ** 2, rel=0.02)


def test_a_body_thinner_than_a_pixel_is_drawn_without_gaps():
    scene = Scene().add_capsule((-2, 0, -0.6), (2, 0, 0.5), 1e-4)
    _, owners = seen(scene, Camera((0, -5, 0), (0, 0, 0), fov=45), 80, 60)
    columns = np.flatnonzero((owners == 0).any(axis=0))
    # 4 m at 5 m are 58 pixels, and a line is drawn a little more than a pixel wide.
    assert len(columns) == pytest.approx(58, abs=3)
    assert (np.diff(columns) == 1).all()


def test_framing_touches_the_margin_and_crops_nothing():
    rng = np.random.default_rng(5)
    for direction in ((1, -1.6, 0.7), (0, 0, 1), (-1, 0.2, -0.4)):
        points = rng.normal(size=(50, 3)) * (1, 3, 0.5) + (100, 0, 5)
        camera = Camera.framing(points, direction=direction, aspect=2.0, margin=0.1)
        local = (points - camera.eye) @ camera.rotation.T
        slope = np.tan(np.radians(camera.fov) / 2)
        x, y = local[:, 0] / local[:, 2] / slope / 2, local[:, 1] / local[:, 2] / slope
        assert local[:, 2].min() > 0
        assert max(np.abs(x).max(), np.abs(y).max()) == pytest.approx(0.8, abs=1e-6)
        assert (x.max() + x.min(), y.max() + y.min()) == pytest.approx((0, 0), abs=1e-6)


def test_orbiting_keeps_distance_and_target():
    camera = Camera((3, -3, 2), (0, 0, 1))
    assert camera.orbit(90).eye == pytest.approx((3, 3, 2))
    assert camera.orbit(0, raised=20).eye[2] > 2
    assert camera.orbiting(4.0)(1.0).eye == pytest.approx((3, 3, 2))
    assert camera.zoom(2).distance == pytest.approx(camera.distance / 2)
    assert camera.orbit(33, raised=10).distance == pytest.approx(camera.distance)


def test_a_camera_that_cannot_be_says_why():
    with pytest.raises(ArgumentError, match="both at"):
        Camera((0, 0, 0), (0, 0, 0))
    with pytest.raises(ArgumentError, match="fov"):
        Camera((0, 0, 0), (1, 0, 0), fov=180)
    with pytest.raises(ArgumentError, match="three finite numbers"):
        Camera((0, np.nan, 0), (1, 0, 0))
    with pytest.raises(ArgumentError, match="up is zero"):
        Camera((0, 0, 0), (1, 0, 0), up=(0, 0, 0))
    with pytest.raises(ArgumentError, match="finite"):
        Camera.framing([[0, 0, np.inf]])


def test_bounds_and_outline_hold_every_solid():
    scene = random_scene(7, 9)
    low, high = scene.bounds()
    rng = np.random.default_rng(0)
    for kind, size, pose in zip(scene.kinds, scene.sizes, scene.poses, strict=True):
        points = rng.normal(size=(200, 3))
        if kind == BOX:
            points = np.sign(points) * size / 2
        else:
            points *= size[0] / np.linalg.norm(points, axis=1, keepdims=True)
            points[:, 2] += np.sign(points[:, 2]) * (size[1] / 2 if kind == CAPSULE else 0)
        world = points @ pose[:9].reshape(3, 3).T + pose[9:]
        assert (world > low - 1e-9).all()
        assert (world < high + 1e-9).all()
    outline = scene.outline()
    assert outline.min(0) == pytest.approx(low)
    assert outline.max(0) == pytest.approx(high)
