"""How a picture looks: edges, shadows, colours, files."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, FileFormatError
from kinetree.render import Camera, Light, Renderer, Scene, body_colors, render_image, write_png

GREY = (0.5, 0.5, 0.5)


def brightness(picture):
    return picture.astype(float).mean(axis=2)


def test_edges_take_values_between_the_two_sides_and_in_proportion():
    # A white wall whose upper edge crosses the picture aslant, before a black sky.
    turn = (np.cos(0.05), 0, np.sin(0.05), 0)
    scene = Scene().add_box((20, 1, 20), (turn, (0, 0, -10)), (1, 1, 1))
    light = Light(strength=0, ambient=50, gloss=0)  # everything lit is as white as can be
    renderer = Renderer(64, 48, background=(0, 0, 0), light=light)
    picture = renderer.draw(scene, Camera((0, -5, 0), (0, 0, 0), fov=40))
    values = brightness(picture)
    edge = (values > 5) & (values < 250)
    assert edge.sum() >= 30, "a slanted edge must pass through grey pixels"
    assert len(np.unique(values[edge])) >= 5, "and through several greys"
    # In linear light, the grey pixels of a column add up to how far the wall covers it: a straight line over columns.
    linear = np.where(picture[:, :, 0] < 11, 0, ((picture[:, :, 0] / 255 + 0.055) / 1.055) ** 2.4)
    covered = linear.sum(axis=0)
    line = np.polyval(np.polyfit(np.arange(64), covered, 1), np.arange(64))
    # Eight samples a pixel know its coverage to 1/8.
    assert np.abs(covered - line).max() < 0.13


def test_the_sides_of_a_box_are_told_apart_and_their_common_edge_is_smooth():
    scene = Scene().add_box((2, 2, 2), None, GREY)
    picture = Renderer(64, 48).draw(scene, Camera((3, -4, 1), (0, 0, 0), fov=30))
    row = brightness(picture)[24]
    left, right = row[20], row[44]
    assert abs(left - right) > 15
    assert np.abs(np.diff(row[16:48])).max() < abs(left - right)


def test_a_ball_darkens_the_floor_on_the_side_away_from_the_light():
    light = Light(direction=(-1, 0, 1))
    camera = Camera((0, -0.01, 12), (0, 0, 0), fov=30)
    scene = Scene().add_sphere((0, 0, 1.0), 0.5)
    with_ball = Renderer(96, 96, light=light).draw(scene, camera, ground=0.0)
    alone = Renderer(96, 96, light=light).draw(Scene().add_sphere((0, 0, -1.0), 0.5), camera, ground=0.0)
    ratio = brightness(with_ball) / brightness(alone)

    def at(x, y):
        pixel = 12 * 2 * np.tan(np.radians(15)) / 96
        return ratio[int(48 - y / pixel), int(48 + x / pixel)]

    assert at(1.0, 0) < 0.75, "the middle of the shadow is 1 m away from below the ball"
    assert at(1.0, 1.6) == pytest.approx(1, abs=0.03)
    assert at(-1.2, 0) == pytest.approx(1, abs=0.03)
    # A soft edge: from the middle of the shadow outward the light comes back step by step.
    outward = [at(1.0, y) for y in (0.0, 0.3, 0.5, 0.7, 1.1)]
    assert (np.diff(outward) > -0.02).all()
    assert 0.75 < outward[2] < 0.99


def test_a_shadow_is_softer_below_a_higher_body():
    widths = []
    for height in (0.5, 3.0):
        scene = Scene().add_sphere((0, 0, height), 0.4)
        light = Light(direction=(0, 0, 1), softness=0.25)
        scene.add_sphere((3, 3, 0.1), 0.1)  # keeps the size of the light's map the same
        scene.add_sphere((-3, -3, 0.1), 0.1)
        camera = Camera((2.0, -2.0, 0.3), (0, 0, 0), fov=60)
        picture = brightness(Renderer(160, 120, light=light).draw(scene, camera, ground=0.0))
        row = picture[60]
        widths.append(np.abs(np.diff(row)).max())
    assert widths[1] < 0.8 * widths[0]


def test_one_body_shadows_another_and_a_lit_face_has_no_speckles():
    light = Light(direction=(0, 0, 1))
    plate = Scene().add_box((4, 4, 0.2), None, (0.8, 0.8, 0.8))
    camera = Camera((0, -3, 8), (0, 0, 0), fov=25)
    lit = brightness(Renderer(96, 72, light=light).draw(plate, camera))[20:52, 30:66]
    smooth = np.abs(np.diff(lit, axis=0)).max(), np.abs(np.diff(lit, axis=1)).max()
    assert max(smooth) < 4, "the plate must not shadow itself"
    plate.add_sphere((0, 0, 1.2), 0.5)
    shaded = brightness(Renderer(96, 72, light=light).draw(plate, camera))
    assert (lit - shaded[20:52, 30:66]).max() > 40


def test_farther_bodies_fade_into_the_horizon():
    scene = Scene()
    for i in range(6):
        scene.add_sphere((1.5 * i - 4, 6.0 * i, 0.5), 0.5, (0.8, 0.1, 0.1))
    renderer = Renderer(160, 120)
    picture = renderer.draw(scene, Camera((0, -8, 1), (0, 6, 0.5), fov=45), ground=0.0).astype(float)
    redness = [
        (picture[:, :, 0] - picture[:, :, 2])[(renderer.keys // 8 == i) & (renderer.keys >= 0)].max() for i in range(6)
    ]
    assert (np.diff(redness) < 0).all(), redness


def test_the_background_is_the_color_asked_for():
    picture = Renderer(32, 24, background=(1.0, 0.5, 0.0)).draw(Scene(), Camera((0, -5, 1), (0, 0, 0)))
    assert np.abs(picture.astype(int) - (255, 128, 0)).max() <= 1


def test_a_model_is_drawn_in_its_colors_and_in_those_given():
    model = (
        kt.ModelBuilder()
        .body("ball", joint=kt.Free(), shapes=[kt.Sphere(radius=0.5, color=(0.1, 0.7, 0.1))])
        .body("plain", joint=kt.Free(), shapes=[kt.Sphere(radius=0.5)])
        .build()
    )
    q = model.neutral()
    q[4:7], q[11:14] = (-0.7, 0, 1), (0.7, 0, 1)
    camera = Camera((0, -5, 1), (0, 0, 1), fov=45)

    def middle(colors, x):
        picture = render_image(model, q, camera=camera, width=64, height=48, colors=colors)
        return picture[20, x].astype(int)

    red, green, blue = middle(None, 22)
    assert green > red + 30
    assert green > blue + 30
    assert middle([(0.9, 0.1, 0.1), (np.nan,) * 3], 22)[0] > 120
    np.testing.assert_array_equal(middle([(0.9, 0.1, 0.1), (np.nan,) * 3], 42), middle(None, 42))


def test_every_model_can_be_looked_at():
    models = [kt.models.pendulum(3), kt.models.chain(4)]
    bare = kt.ModelBuilder().body("a", joint=kt.Revolute("y"), mass=1, com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.1))
    bare.body("b", parent="a", joint=kt.Revolute("x"), placement=(None, (0, 0, -0.5)), mass=1, inertia=(0.1, 0.1, 0.1))
    models.append(bare.build())
    for model in models:
        picture = render_image(model, width=48, height=36)
        empty = render_image(model, width=48, height=36, camera=Camera((0, 0, 900), (0, 0, 1000)))
        assert picture.shape == (36, 48, 3)
        assert np.abs(picture.astype(int) - empty).max() > 50
    kinds = Scene.of(models[2]).kinds
    assert kinds.tolist() == [2, 1], "a capsule from joint to joint, and a ball where there is nowhere to go"


def test_the_plane_of_a_model_is_the_floor():
    tilted = ((np.cos(0.2), np.sin(0.2), 0, 0), (0, 0, 0))
    model = (
        kt.ModelBuilder()
        .body("ground", shapes=[kt.Plane(placement=(0, 0, 0.25))])
        .body("ball", joint=kt.Free(), shapes=[kt.Sphere(radius=0.1)])
        .body("ramp", shapes=[kt.Plane(placement=tilted)])
        .build()
    )
    scene = Scene.of(model)
    assert scene.floor == 0.25
    assert scene.kinds.tolist() == [1, 0], "the tilted plane is drawn as a wide plate"


def test_trees_of_a_forest_and_links_of_a_chain_get_different_colors():
    chain = body_colors(kt.models.pendulum(100))
    assert len(np.unique(chain.round(6), axis=0)) == 100
    few = body_colors(kt.models.pendulum(6))
    gaps = np.linalg.norm(few[:, None] - few[None], axis=2) + np.eye(6)
    assert gaps.min() > 0.2


def test_arrows_and_markers_can_be_added():
    scene = Scene().add_arrow((0, 0, 0), (0, 0, 1), 0.05).add_arrow((0, 0, 0), (0, 0, 0), 0.05)
    low, high = scene.bounds()
    assert low[2] == pytest.approx(-0.05)
    assert 1.0 <= high[2] < 1.02


def test_png_files_hold_exactly_the_picture(tmp_path):
    image_of = pytest.importorskip("PIL.Image").open
    rng = np.random.default_rng(0)
    for shape in ((1, 1, 3), (7, 13, 3), (48, 64, 3)):
        picture = rng.integers(0, 256, shape, dtype=np.uint8)
        write_png(tmp_path / "a.png", picture)
        np.testing.assert_array_equal(np.asarray(image_of(tmp_path / "a.png")), picture)
    assert os.listdir(tmp_path) == ["a.png"]


def test_what_cannot_be_drawn_is_a_named_error(tmp_path):
    camera = Camera((0, -5, 0), (0, 0, 0))
    for size in ((0, 10), (10, -1), (20000, 10), (10.5, 10), (True, 10)):
        with pytest.raises(ArgumentError, match="of the picture"):
            Renderer(*size)
    scene = Scene().add_sphere((0, 0, 0), 1)
    scene.poses[0, 10] = np.nan
    with pytest.raises(ArgumentError, match=r"primitive 0 .* pose that is not finite"):
        Renderer(8, 8).draw(scene, camera)
    model = kt.models.pendulum(2)
    with pytest.raises(ArgumentError, match="must be finite"):
        render_image(model, [0.0, np.nan], width=8, height=8)
    with pytest.raises(ArgumentError, match=r"\(2, 3\)"):
        render_image(model, width=8, height=8, colors=[(1, 0, 0)])
    with pytest.raises(ArgumentError, match=r"0\.\.1"):
        render_image(model, width=8, height=8, colors=[(255, 0, 0), (0, 0, 0)])
    with pytest.raises(ArgumentError, match="ground"):
        render_image(model, width=8, height=8, ground=float("nan"))
    with pytest.raises(ArgumentError, match="background"):
        Renderer(8, 8, background="blue")
    with pytest.raises(ArgumentError, match="light"):
        Light(direction=(0, 0, -1))
    with pytest.raises(ArgumentError, match="camera"):
        Renderer(8, 8).draw(Scene(), "front")
    with pytest.raises(ArgumentError, match="kinds"):
        Scene([7], [(1, 1, 1)], np.zeros((1, 12)))
    with pytest.raises(ArgumentError, match="sizes"):
        Scene().add_sphere((0, 0, 0), -1)
    with pytest.raises(ArgumentError, match="uint8"):
        write_png(tmp_path / "a.png", np.zeros((4, 4)))
    with pytest.raises(FileFormatError, match="no directory"):
        write_png(tmp_path / "none" / "a.png", np.zeros((4, 4, 3), dtype=np.uint8))
    with pytest.raises(FileFormatError, match="directory"):
        write_png(tmp_path, np.zeros((4, 4, 3), dtype=np.uint8))
    assert os.listdir(tmp_path) == []


def test_cameras_and_lights_can_be_sent_to_another_process():
    camera = pickle.loads(pickle.dumps(Camera((1, 2, 3), (0, 0, 0))))
    assert camera.eye.tolist() == [1, 2, 3]
    assert pickle.loads(pickle.dumps(Light())) == Light()
