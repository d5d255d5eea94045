"""The structured solver, dense pivoting and sweeps: one solution, on every curve; energy and momentum accounted for."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.bench import soft_scenes as scenes
from kinetree.kernels import soft_layout as at

SCENES = {
    "pendulum": scenes.pendulum,
    "hinges": scenes.chain,
    "balls": lambda: scenes.chain(6, kind="ball"),
    "box": scenes.box_on_floor,
    "pile": lambda: scenes.sphere_pile(4),
}


def off_curves(world):
    """Return the largest distance of rows from their curves [m/s], and the impulses beyond limits."""
    rows, links = world.tables["rows"], world.tables["links"]
    worst, beyond = 0.0, 0.0
    for r in np.flatnonzero(links[:, at.ON] == 1):
        p, y, w, beta = (float(rows[r, k]) for k in (at.PUSH, at.SPEED, at.W, at.BETA))
        lower, upper = float(rows[r, at.LOWER]), float(rows[r, at.UPPER])
        beyond = max(beyond, lower - p, p - upper)
        short = w - y - beta * p
        at_lower, at_upper = p <= lower + 1e-9 * abs(lower), p >= upper - 1e-9 * abs(upper)
        if links[r, at.TARGET] >= 0:  # a vertical part: between its two pieces
            t, k = int(links[r, at.TARGET]), int(links[r, at.PIECE])
            pieces = world.tables["pieces"]
            if links[r, at.SIDE] < 0:
                above = (
                    math.inf
                    if k == 0
                    else pieces[t + k - 1, at.P_W] - pieces[t + k - 1, at.P_BETA] * pieces[t + k - 1, at.P_UPPER]
                )
                below = w - beta * lower
                worst = max(worst, y - above, below - y)
                continue
        if at_lower and short < 0:
            continue
        if at_upper and short > 0:
            continue
        worst = max(worst, abs(short))
    return worst, beyond


def random_scene(seed, *, solver="structured", count=None, friction=(0.0, 0.5, 1.0), softest=-2.0, hardest=-7.0):
    """Bodies in a random graph of random joints, motors, targets, markers and a floor."""
    rng = np.random.default_rng(seed)
    world = kt.soft.World(dt=float(rng.choice([1 / 60, 1 / 240])), solver=solver)
    n = count or int(rng.integers(2, 8))
    for k in range(n):
        shape = [kt.Sphere(radius=0.1), kt.Box(size=(0.1, 0.2, 0.3)), kt.Capsule(radius=0.05, length=0.2)][k % 3]
        world.add_body(
            f"b{k}", shapes=[shape], pose=(0.3 * rng.normal(size=3)) + (0, 0, 0.5), velocity=rng.normal(size=6),
            kinematic=bool(rng.random() < 0.1) and k > 0,
        )  # fmt: skip
    kinds = ["ball", "hinge", "universal", "fixed", "slider", "distance", "planar"]
    for k in range(1, n + int(rng.integers(0, 3))):
        a, b = (k, int(rng.integers(0, k))) if k < n else rng.choice(n, 2, replace=False).tolist()
        if world.bodies[a].is_kinematic and world.bodies[b].is_kinematic:
            continue
        kind = str(rng.choice(kinds))
        cfm = 10 ** rng.uniform(hardest, softest)
        joint = world.add_joint(
            f"j{k}",
            kind,
            f"b{a}",
            f"b{b}",
            axis=rng.normal(size=3),
            axis2=rng.normal(size=3),
            erp=rng.uniform(0, 0.8),
            cfm=cfm,
        )
        if kind in ("ball", "hinge", "universal", "slider"):
            world.add_motor(
                f"m{k}", joint, stiffness=10 ** rng.uniform(-1, 4), damping=10 ** rng.uniform(-1, 2),
                limit=10 ** rng.uniform(-1, 3),
            )  # fmt: skip
            if kind != "ball" and rng.random() < 0.5:
                world.add_range(f"r{k}", joint, -rng.random(), rng.random(), cfm=1e-5)
    for k in range(int(rng.integers(0, 4))):
        target = None
        if rng.random() < 0.5:
            x, f = np.sort(rng.normal(size=4)), np.sort(rng.normal(scale=10, size=4))[::-1]
            target = kt.soft.Target(
                segments=list(zip(x.tolist(), f.tolist(), strict=True)), damping=float(rng.random())
            )
        world.add_marker(
            f"k{k}", f"b{k % n}", 0.1 * rng.normal(size=3), limit=float(rng.choice([np.inf, 30])), target=target
        )
    world.add_ground(friction=float(rng.choice(friction)), cfm=1e-5)
    return world


@pytest.mark.parametrize("name", SCENES)
def test_all_rows_are_on_their_curves(name):
    """Complementarity to 1e-10 of the velocities, in each of sixty steps, and no impulse beyond its limits."""
    world = SCENES[name]()
    for _ in range(60):
        world.step()
        worst, beyond = off_curves(world)
        scale = 1 + abs(world.tables["rows"][:, at.SPEED]).max()
        assert worst < 1e-10 * scale, (name, worst, world.stats)
        # limits of friction follow the normal impulses to 1e-10 of the largest
        assert beyond < 1e-10 * (1 + np.abs(world.tables["rows"][:, at.PUSH]).max())


@pytest.mark.parametrize("name", SCENES)
def test_dense_pivoting_finds_the_same(name):
    """The oracle: dense, one row at a time."""
    one, other = SCENES[name](), SCENES[name]()
    other.solver = "dantzig"
    for _ in range(30):
        one.step()
        other.step()
    # thirty steps let rounding grow by the chain's own instability
    np.testing.assert_allclose(one.state(), other.state(), atol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_random_scenes_have_one_solution(seed):
    """Loops, limits, ranges, targets, friction: structured and dense agree from each state of the motion."""
    world, twin = random_scene(seed), random_scene(seed, solver="dantzig")
    for _ in range(10):
        twin.set_state(world.state())
        twin.tables["rows"][:, at.PUSH] = world.tables["rows"][:, at.PUSH]  # where friction's limits start
        world.step()
        twin.step()
        rows = world.tables["rows"]
        scale = 1 + np.abs(rows[:, at.SPEED]).max()
        gap = np.abs(world.state()[:, 7:13] - twin.state()[:, 7:13]).max()
        worst, beyond = off_curves(world)
        # stiff rows at a cfm of 1e-7 leave eight digits of what bodies do besides
        assert gap < 1e-7 * scale, (seed, gap, scale, world.stats, twin.stats)
        assert worst < 1e-8 * scale, (seed, worst, world.stats)
        assert beyond < 1e-9


@pytest.mark.slow_python
@pytest.mark.parametrize("seed", range(4))
def test_sweeps_converge_to_the_solution(seed):
    """Projected Gauss-Seidel, given time, is where the others are."""
    easy = {"count": 3, "friction": (0.0,), "hardest": -3.0}
    world, twin = random_scene(seed, **easy), random_scene(seed, solver="pgs", **easy)
    twin.tables.numbers[at.SWEEPS] = 20000
    world.step()
    twin.step()
    scale = 1 + np.abs(world.tables["rows"][:, at.SPEED]).max()
    np.testing.assert_allclose(twin.state()[:, 7:13], world.state()[:, 7:13], atol=1e-5 * scale)


def test_more_sweeps_leave_less():
    """The residual falls with the sweeps; from step to step the last impulses are the start."""
    left = []
    for sweeps in (5, 20, 80, 320):
        world = kt.soft.World(dt=1 / 60, solver="pgs", iterations=sweeps)
        before = None
        for k in range(8):
            body = world.add_body(f"b{k}", shapes=[kt.Capsule(radius=0.03, length=0.2)], pose=(0, 0, -0.3 * k))
            world.add_joint(f"j{k}", "ball", body, before, anchor=(0, 0, 0.15 - 0.3 * k))
            before = body
        world.step(5)
        left.append(world.stats["residual"])
    assert left[0] > left[1] > left[2] > left[3], left
    assert left[3] < 0.05 * left[0], left


def test_a_loop_of_bodies_is_solved_exactly():
    """A ring of twelve: one joint closes it outside the tree; the rows hold to rounding."""
    n = 12
    world = kt.soft.World(dt=1 / 120, erp=0.3, cfm=1e-8)
    angles = 2 * np.pi * np.arange(n) / n
    bodies = [
        world.add_body(f"b{k}", shapes=[kt.Sphere(radius=0.05)], pose=(np.cos(a), 0, np.sin(a) + 2))
        for k, a in enumerate(angles)
    ]
    for k in range(n):
        middle = 0.5 * (bodies[k].center + bodies[(k + 1) % n].center)
        world.add_joint(f"j{k}", "hinge", bodies[k], bodies[(k + 1) % n], anchor=middle, axis="y")
    world.add_joint("hang", "ball", bodies[3], anchor=bodies[3].center)
    for _ in range(60):
        world.step()
        assert world.stats["residual"] < 1e-11
    assert max(kt.soft.joint_gaps(world).values()) < 5e-3


@pytest.mark.slow_python
def test_a_human_with_limits_settles_at_once_from_the_last_set():
    """The guess: a few factorisations a step, and dense pivoting finds the same."""
    world, twin = scenes.human(limit=10.0), scenes.human(limit=10.0, solver="dantzig")
    counts = []
    for _ in range(5):
        world.step()
        twin.step()
        counts.append(world.stats["factorizations"])
        assert world.stats["pivots"] == 0
    np.testing.assert_allclose(world.state(), twin.state(), atol=1e-9)
    assert (world.tables["links"][:, at.SIDE] != 0).sum() >= 10, "many motors are at their limits"
    assert np.mean(counts) <= 6, counts


@pytest.mark.slow_python
def test_what_does_not_settle_is_pivoted():
    """Hard rows with limits have no line search: where rounds cycle, dense pivoting takes over."""
    world = scenes.human(limit=5.0, joint_cfm=1e-6)
    for constraint in world.constraints:
        if constraint.kind == "vector motor":
            constraint.soften(erp=0.0, cfm=0.0)
    twin = scenes.human(limit=5.0, joint_cfm=1e-6, solver="dantzig")
    for constraint in twin.constraints:
        if constraint.kind == "vector motor":
            constraint.soften(erp=0.0, cfm=0.0)
    for _ in range(3):
        world.step()
        twin.step()
    np.testing.assert_allclose(world.state(), twin.state(), atol=1e-8)


def test_newton_finds_what_rounds_do_not():
    """With the plain rounds spent, the line search on the convex function ends at the same solution."""
    from kinetree.kernels import soft_newton

    world, twin = random_scene(5, count=6, friction=(0.0,)), random_scene(5, count=6, friction=(0.0,), solver="dantzig")
    assert world.tables.numbers[at.ITERATIONS] > soft_newton.PLAIN_ROUNDS
    rng = np.random.default_rng(0)
    for _ in range(20):
        twin.set_state(world.state())
        links = world.tables["links"]
        links[:, at.SIDE] = rng.integers(-1, 2, size=len(links))  # the worst of guesses
        world.step()
        twin.step()
        scale = 1 + np.abs(world.tables["rows"][:, at.SPEED]).max()
        gap = np.abs(world.state()[:, 7:13] - twin.state()[:, 7:13]).max()
        assert gap < 1e-7 * scale, gap


def test_momentum_of_free_bodies_is_kept_by_joints():
    """Rows between bodies act and react: linear momentum to rounding, angular to the order of the step."""
    drifts = []
    for dt in (1 / 240, 1 / 960):
        world = kt.soft.World(dt=dt, gravity=(0, 0, 0), cfm=1e-6)
        before = None
        rng = np.random.default_rng(1)
        for k in range(5):
            body = world.add_body(
                f"b{k}", shapes=[kt.Box(size=(0.1, 0.2, 0.3))], pose=(0.3 * k, 0, 0), velocity=rng.normal(size=6)
            )
            if before is not None:
                world.add_joint(f"j{k}", "ball", body, before, anchor=(0.3 * k - 0.15, 0, 0))
            before = body
        world.step()
        start = world.momentum()
        world.step(round(0.5 / dt))
        change = world.momentum() - start
        assert np.abs(change[3:]).max() < 1e-11
        drifts.append(np.abs(change[:3]).max() / np.abs(start[:3]).max())
    assert drifts[1] < 0.4 * drifts[0], drifts
    assert drifts[1] < 0.02, drifts


def test_the_ledger_closes():
    """Kinetic energy gained in a step is the work of rows, gravity, user and gyroscopic torques in it, to rounding."""
    world = scenes.human(limit=10.0, gyroscopic="conserving")
    for _ in range(10):
        before = world.ledger()
        world.body("head").apply(force=(3, 2, 1), torque=(0.1, 0, 0))
        state = world.state()
        world.step()
        # with the inertias of before the step, in which the velocities change
        bodies = world.tables["bodies"]
        gained = 0.0
        for i in range(len(state)):
            xx, xy, xz, yy, yz, zz = bodies[i, at.WORLD_INERTIA : at.WORLD_INERTIA + 6]
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            for twist, sign in ((world.state()[i, 7:13], 0.5), (state[i, 7:13], -0.5)):
                gained += sign * (twist[:3] @ inertia @ twist[:3] + bodies[i, at.MASS] * twist[3:] @ twist[3:])
        put = {key: value - before[key] for key, value in world.ledger().items()}
        assert sum(put.values()) == pytest.approx(gained, abs=1e-11 * sum(abs(x) for x in put.values())), put
        assert put["user"] != 0


@pytest.mark.slow
def test_random_scenes_stay_finite():
    """Two thousand scenes of up to twenty bodies, half a second each."""
    for seed in range(2000):
        world = random_scene(1000 + seed, count=2 + seed % 19)
        world.step(30)
        assert np.isfinite(world.state()).all(), seed
