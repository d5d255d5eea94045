"""What a camera sees counts: by distance, by pixels, and less outside of the picture."""

from types import SimpleNamespace

import numpy as np
import pytest

import kinetree as kt
from kinetree.adaptive.extent import extent
from kinetree.adaptive.view import View
from kinetree.errors import ArgumentError
from kinetree.kernels import layout as at
from kinetree.render import Camera
from oracle.trees import random_model

LOOK = Camera(eye=(0, -10, 2), target=(0, 0, 1), fov=40)


def balls(n, radius=0.5):
    """Return a forest of loose balls."""
    builder = kt.ModelBuilder("balls")
    for k in range(n):
        builder.body(f"ball {k}", joint=kt.Free(), shapes=[kt.Sphere(radius)])
    return builder.build()


def project(camera, points, width, height):
    """Return where points are seen, in pixels from the upper left corner, and their depths."""
    right, down, depth = np.moveaxis((np.asarray(points, float) - camera.eye) @ camera.rotation.T, -1, 0)
    pixel = 2 * np.tan(np.radians(camera.fov) / 2) / height
    return np.stack([width / 2 + right / depth / pixel, height / 2 + down / depth / pixel], axis=-1), depth


def farthest(model, link, q):
    """Return the largest distance from a joint to any shape that it moves, sampled on their surfaces."""
    poses = kt.body_poses(model, q)
    origin = poses[model.topology[link, at.BODY], :3, 3]
    moved = np.arange(link, model.topology[link, at.LAST])
    most = 0.0
    rng = np.random.default_rng(0)
    ways = rng.normal(size=(300, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for k, body in enumerate(model.shape_bodies):
        if model.body_links[body] not in moved:
            continue
        place, size = model.shape_placements[k], model.shape_sizes[k]
        if model.shape_kinds[k] == 0:
            points = np.sign(ways) * size / 2
        elif model.shape_kinds[k] == 1:
            points = size[0] * ways
        else:
            points = size[0] * ways + np.sign(ways[:, 2:]) * [0, 0, size[1] / 2]
        points = points @ place[:9].reshape(3, 3).T + place[9:]
        points = points @ poses[body, :3, :3].T + poses[body, :3, 3]
        most = max(most, np.linalg.norm(points - origin, axis=1).max())
    return most


def shaped_model(seed, n=12):
    """Return a random tree whose bodies have shapes of every kind."""
    rng = np.random.default_rng(seed)
    builder = kt.ModelBuilder(f"shapes {seed}")
    for i in range(n):
        offset = rng.normal(scale=0.3, size=3)
        shapes = [kt.Box(rng.uniform(0.1, 0.4, 3), placement=offset), kt.Sphere(0.1, placement=-offset)]
        shapes.append(kt.Capsule.between(offset, -offset, 0.05))
        joint = [kt.Revolute("x"), kt.Spherical(), kt.Universal("x", "y"), kt.Fixed()][int(rng.integers(4))]
        parent = None if i == 0 else f"b{int(rng.integers(i))}"
        builder.body(
            f"b{i}", parent=parent, joint=kt.Free() if i == 0 else joint, placement=offset, shapes=shapes[i % 3 :]
        )
    return builder.build()


@pytest.mark.parametrize("seed", range(8))
def test_lever_arms_hold_all_that_a_joint_moves(seed):
    """At least the true distance in the neutral configuration, at most sqrt(3) times that."""
    model = shaped_model(seed)
    arms = extent(model).arms
    for link in range(model.njoints):
        true = farthest(model, link, model.neutral())
        # the sampled surface is a little smaller than the shapes
        assert 0.99 * true <= arms[link] <= 1.05 * np.sqrt(3) * true, f"{arms[link]} for {true}"


@pytest.mark.parametrize("seed", range(8))
def test_a_ball_about_the_root_holds_the_tree_however_it_is_bent(seed):
    """Rotations keep everything within the stretched length."""
    model = shaped_model(seed)
    for state in range(5):
        q, _ = model.random_state(state)
        true = farthest(model, 0, q)
        assert true <= extent(model).radii[0] * (1 + 1e-12), f"{true} outside of {extent(model).radii[0]}"


def test_a_straight_pendulum_has_the_lever_arms_one_reads_off():
    """Of n links of one length: n lengths from the first joint, from the last one."""
    model = kt.models.pendulum(10)
    arms = extent(model).arms
    link = np.linalg.norm(np.diff(kt.body_poses(model, model.neutral())[:2, :3, 3], axis=0))
    # ends are round or have only a centre of mass: within a link's length
    np.testing.assert_allclose(arms, link * np.arange(10, 0, -1), atol=link)
    assert (np.diff(arms) < 0).all()


def test_a_large_body_is_measured():
    """30,000 links in a chain and in a bush: no recursion, and every lever arm is found."""
    for build in (kt.models.molecule, kt.models.chain):
        found = extent(build(30_000))
        assert np.isfinite(found.arms).all()
        assert (found.arms > 0).all()


@pytest.mark.parametrize("by", ["distance", "pixels"])
def test_nearer_counts_more(by):
    """Along the axis of the view, with the square of the distance; a reference distance counts 1."""
    model = balls(4)
    depths = np.array([5.0, 10.0, 20.0, 40.0])
    direction = (LOOK.target - LOOK.eye) / LOOK.distance
    positions = LOOK.eye + depths[:, None] * direction
    scales = View(LOOK, by=by, reference=10.0).scales(model, positions, 0.0)
    np.testing.assert_allclose(scales, scales[1] * (10 / depths) ** 2, rtol=1e-12)
    if by == "distance":
        assert scales[1] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("size", [(640, 480), (1920, 1080), (400, 900)])
def test_pixels_per_metre_are_those_of_a_picture(size):
    """A centimetre across the view at the depth of a root, projected by hand, against the square root of the scale."""
    rng = np.random.default_rng(3)
    camera = Camera(eye=(3, -4, 2), target=(0.2, 0.1, 0.9), fov=55, up=(0.1, 0, 1))
    positions = rng.uniform(-1.2, 1.2, size=(30, 3))
    model = balls(30)
    found = np.sqrt(View(camera, width=size[0], height=size[1]).scales(model, positions, 0.0))
    for position, scale in zip(positions, found, strict=True):
        a, _ = project(camera, position, *size)
        b, _ = project(camera, position + 0.01 * camera.rotation[0], *size)
        c, _ = project(camera, position + 0.01 * camera.rotation[1], *size)
        inside = (a >= 0).all() and (a <= size).all()
        if inside:
            assert scale == pytest.approx(np.linalg.norm(b - a) / 0.01, rel=1e-9)
            assert scale == pytest.approx(np.linalg.norm(c - a) / 0.01, rel=1e-9)
    assert found.min() > 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("fov", [10.0, 45.0, 120.0])
def test_nothing_that_is_seen_counts_as_outside(seed, fov):
    """A tree of which any point of its ball is projected into the picture is inside; what is far off is not."""
    rng = np.random.default_rng(seed)
    camera = Camera(eye=rng.normal(size=3), target=rng.normal(size=3) + 3, fov=fov)
    positions = camera.eye + rng.normal(scale=4.0, size=(200, 3))
    model = balls(200)
    narrow, full = View(camera, outside=1e-3), View(camera, outside=1.0)
    share = narrow.scales(model, positions, 0.0) / full.scales(model, positions, 0.0)
    np.testing.assert_array_less(np.minimum(np.abs(share - 1), np.abs(share - 1e-3)), 1e-9)
    radius = extent(model).radii[0]
    directions = rng.normal(size=(200, 3))
    directions *= radius / np.linalg.norm(directions, axis=1, keepdims=True)
    pixels, depths = project(camera, positions[:, None] + directions, 1280, 720)
    seen = ((depths > 0) & (pixels >= 0).all(axis=-1) & (pixels <= (1280, 720)).all(axis=-1)).any(axis=1)
    assert (share[seen] > 0.5).all()
    behind = (positions - camera.eye) @ camera.rotation[2] < -radius
    assert (share[behind] < 0.5).all()
    print(f"{seen.sum()} seen, {(share > 0.5).sum()} inside, {behind.sum()} behind")


def test_outside_counts_less_by_distance_too():
    """Two at the same distance, one of them behind the eye."""
    model = balls(2)
    forward = LOOK.target - LOOK.eye
    positions = np.array([LOOK.eye + forward, LOOK.eye - forward])
    seen, unseen = View(LOOK, by="distance", outside=0.2).scales(model, positions, 0.0)
    assert unseen == pytest.approx(0.2 * seen, rel=1e-12)


def test_a_moving_camera_is_asked_at_every_time():
    """A function of the time; the view follows it."""
    model = balls(2)
    positions = np.array([[0.0, 0, 0], [50.0, 0, 0]])
    view = View(lambda now: Camera(eye=(10 * now, -5, 1), target=(10 * now, 0, 1)))
    first, last = view.scales(model, positions, 0.0), view.scales(model, positions, 5.0)
    assert first[0] > 10 * first[1]
    assert last[1] > 10 * last[0]
    still = View(Camera(eye=(50, -5, 1), target=(50, 0, 1)))
    np.testing.assert_array_equal(still.scales(model, positions, 0.0), last)


@pytest.mark.parametrize("seed", range(6))
def test_weights_are_positive_and_finite_everywhere(seed):
    """At the eye, behind it, far away; for every kind of joint."""
    model = random_model(seed, 30, roots=0.3)
    trees = int(model.topology[:, at.TREE].max()) + 1
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(trees, 3)) * 10.0 ** rng.uniform(-9, 12, size=(trees, 1)) + LOOK.eye
    positions[0] = LOOK.eye
    for by in ("distance", "pixels"):
        weights = View(LOOK, by=by).joint_weights(model, positions, 0.0)
        assert weights.shape == (model.nv,)
        assert np.isfinite(weights).all()
        assert (weights > 0).all()


def test_a_weight_is_the_square_of_the_pixels_that_a_joint_moves():
    """A rad or metre of a degree of freedom moves nothing farther than sqrt(weight) pixels (at the root's depth)."""
    model = kt.models.crowd(3, seed=1)
    positions = kt.body_poses(model, model.neutral())[model.topology[model.topology[:, at.PARENT] < 0, at.BODY], :3, 3]
    view = View(LOOK)
    weights = view.joint_weights(model, positions, 0.0)
    scales, arms = view.scales(model, positions, 0.0), extent(model).arms
    for link, row in enumerate(model.topology):
        scale = scales[row[at.TREE]]
        own = weights[row[at.V] : row[at.V] + row[at.DOF]]
        turning = min(row[at.DOF], 3)
        np.testing.assert_allclose(own[:turning], arms[link] ** 2 * scale, rtol=1e-12)
        np.testing.assert_allclose(own[3:], scale, rtol=1e-12)
    np.testing.assert_array_equal(View(LOOK, by="distance").joint_factors(model), 1.0)
    with pytest.raises(ValueError, match="read-only"):
        view.joint_factors(model)[0] = 1.0


def test_screws_and_sliders_have_their_own_factors():
    """A slider moves all by 1 m per metre; a screw by its pitch besides."""
    builder = kt.ModelBuilder()
    for name, joint in (("slider", kt.Prismatic("z")), ("screw", kt.Helical("z", pitch=2.0)), ("planar", kt.Planar())):
        builder.body(name, joint=joint, shapes=[kt.Sphere(0.5)])
    factors = View(LOOK).joint_factors(builder.build())
    np.testing.assert_allclose(factors, [1.0, 0.25 + 4.0, 0.25, 1.0, 1.0], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "size"}, "by is 'size'"),
        ({"outside": 0.0}, "outside of a View is 0.0"),
        ({"outside": 2.0}, "cannot count more than 1"),
        ({"width": -3}, "width of a View is -3"),
        ({"nearest": float("nan")}, "nearest of a View is nan"),
        ({"height": "tall"}, "height of a View is 'tall'"),
        ({"reference": float("inf")}, "reference of a View is inf"),
    ],
)
def test_bad_options_are_named(options, message):
    """Nothing that would give a weight that is not positive."""
    with pytest.raises(ArgumentError, match=message):
        View(LOOK, **options)


def test_bad_cameras_and_positions_are_named():
    """At once where the camera does not move, and when it is asked where it does."""
    good = {"eye": (0, 0, 1), "target": (1, 0, 1), "up": (0, 0, 1), "fov": 40.0}
    for wrong, message in (
        ({"fov": 180.0}, "angle between 0 and 180"),
        ({"target": (0, 0, 1)}, "eye and target both at"),
        ({"eye": (0, 0, np.nan)}, "finite"),
        ({"eye": (0, 0)}, "three numbers each"),
    ):
        with pytest.raises(ArgumentError, match=message):
            View(SimpleNamespace(**good | wrong))
        with pytest.raises(ArgumentError, match=message):
            View(lambda _, wrong=wrong: SimpleNamespace(**good | wrong)).scales(balls(1), np.zeros((1, 3)), 0.0)
    with pytest.raises(ArgumentError, match=r"like kinetree\.render\.Camera"):
        View(42)
    with pytest.raises(ArgumentError, match=r"shape \(2, 3\)"):
        View(LOOK).scales(balls(2), np.zeros((3, 3)), 0.0)
    with pytest.raises(ArgumentError, match="finite numbers of shape"):
        View(LOOK).scales(balls(1), np.full((1, 3), np.inf), 0.0)
    # straight down along up, any right is right
    down = SimpleNamespace(**good | {"target": (0, 0, 0)})
    assert View(down).scales(balls(1), np.zeros((1, 3)), 0.0)[0] > 0
