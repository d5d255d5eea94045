"""Every row is an implicit spring: the closed formula, its energy, its limits, dead zones and stiffening."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt

H = 1 / 60
GAINS = (0.0, 1e-3, 1.0, 30.0, 1e4, 1e8, 1e12)


def particle(*, mass=2.0, x=0.3, v=-0.7, gravity=(0, 0, 0), dt=H, **marker):
    """A sphere that a marker at the origin holds by its centre."""
    world = kt.soft.World(dt=dt, gravity=gravity)
    body = world.add_body("mass", mass=mass, inertia=(0.1, 0.1, 0.1), pose=(x, 0, 0), velocity=(0, 0, 0, v, 0, 0))
    return world, body, world.add_marker("spring", body, position=(0, 0, 0), **marker)


@pytest.mark.parametrize("kp", GAINS)
@pytest.mark.parametrize("kd", GAINS)
def test_the_force_is_the_closed_formula(kp, kd):
    """Equation (14): f = -(kd v + kp x + h kp v) / (1 + h kd / m + h^2 kp / m), to 1e-12 of its size."""
    m, x, v = 2.0, 0.3, -0.7
    world, body, spring = particle(mass=m, x=x, v=v, stiffness=kp, damping=kd)
    world.step()
    expected = -(kd * v + kp * x + H * kp * v) / (1 + H * kd / m + H * H * kp / m)
    # the largest of its terms bounds what rounding does where they cancel
    scale = (kd * abs(v) + kp * abs(x) + H * kp * abs(v)) / (1 + H * kd / m + H * H * kp / m)
    assert abs(spring.force[0] - expected) <= 1e-12 * scale, (spring.force[0], expected)
    assert abs(body.velocity[3] - (v + H * expected / m)) <= 1e-12 * (abs(v) + H * scale / m)


@pytest.mark.parametrize(("kp", "kd"), [(1.0, 0.0), (0.0, 3.0), (50.0, 2.0), (1e6, 1e3)])
def test_erp_and_cfm_are_the_same_spring(kp, kd):
    """With alpha = h kp / (h kp + kd), and h beta = 1 / (h kp + kd): bit for bit the same motion, and back again."""
    one, body, spring = particle(stiffness=kp, damping=kd)
    other, twin, row = particle(erp=H * kp / (H * kp + kd), cfm=1 / (H * kp + kd))
    np.testing.assert_allclose(row.stiffness, kp, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(row.damping, kd, rtol=1e-12, atol=1e-9)
    one.step(20)
    other.step(20)
    assert np.array_equal(body.center, twin.center)
    assert np.array_equal(spring.force, row.force)


@pytest.mark.parametrize("kp", GAINS)
@pytest.mark.parametrize("kd", GAINS)
def test_springs_never_gain_energy(kp, kd):
    """A net of springs between masses: kinetic energy and what the springs hold never grow, at any stiffness."""
    rng = np.random.default_rng(3)
    world = kt.soft.World(dt=H, gravity=(0, 0, 0))
    bodies = [
        world.add_body(
            f"b{k}", mass=float(rng.uniform(0.1, 5)), inertia=(0.1, 0.1, 0.1), pose=tuple(rng.normal(size=3)),
            velocity=np.concatenate((np.zeros(3), rng.normal(size=3))),
        )
        for k in range(6)
    ]  # fmt: skip
    # between centres of mass along world axes: linear springs, whose energy is theirs exactly
    springs = [
        world.add_joint(
            f"s{k}", "ball", bodies[k], bodies[k + 1] if k + 1 < 6 else None, points=(np.zeros(3), np.zeros(3)),
            stiffness=kp, damping=kd,
        )
        for k in range(6)
    ]  # fmt: skip

    def held():
        gaps = [s.point - s.anchor for s in springs]
        return 0.5 * kp * float(np.sum(np.square(gaps)))

    before = world.energy()[0] + held()
    for _ in range(60):
        world.step()
        now = world.energy()[0] + held()
        # the gap itself is only known to the rounding of the positions
        slack = 1e-12 * before + kp * 1e-31 * 100
        assert now <= before + slack, (kp, kd, now, before)
        before = now


def test_without_stiffness_and_damping_there_is_no_row():
    """Gains of zero do nothing at all."""
    world, body, spring = particle(stiffness=0.0, damping=0.0)
    world.step(10)
    assert body.center[0] == pytest.approx(0.3 - 0.7 * 10 * H, abs=1e-14)
    assert not spring.enabled_rows.any()
    assert not spring.force.any()


def test_a_limited_spring_pulls_with_its_limit():
    """Force stays between its limits; within them it is the plain spring."""
    world, body, spring = particle(x=1.0, v=0.0, stiffness=1e4, damping=10.0, limit=3.0)
    world.step()
    assert spring.force[0] == -3.0
    assert spring.at_limit[0] == -1
    assert body.velocity[3] == pytest.approx(-3.0 / 2.0 * H, rel=1e-14)


@pytest.mark.parametrize("solver", ["structured", "dantzig", "pgs"])
def test_a_dead_zone_does_nothing_inside_its_range(solver):
    """No force, not even rounding, while the displacement stays inside; a spring from the edge on."""
    zone = kt.soft.Target(deadzone=(-0.5, 0.5))
    world, body, row = particle(x=0.3, v=1.0, stiffness=100.0, damping=0.0, target=[zone, None, None])
    world.solver = solver
    while body.center[0] + H * body.velocity[3] <= 0.5:
        world.step()
        assert row.force[0] == 0.0
        assert body.velocity[3] == 1.0
    x, v, m, k = body.center[0] - 0.5, body.velocity[3], 2.0, 100.0
    world.step()
    # formula (14) about the edge
    expected = -(k * x + H * k * v) / (1 + H * H * k / m)
    assert row.force[0] == pytest.approx(expected, rel=1e-12)
    world.step(40)
    assert body.velocity[3] < 0, "it was pushed back"


def implicit_force(target, kd, m, x, v):
    """Solve f = F(x + h (v + h f / m)) - kd (v + h f / m) by bisection: F falls, so the right side does."""
    low, high = -1e9, 1e9
    for _ in range(200):
        f = 0.5 * (low + high)
        speed = v + H * f / m
        low, high = (f, high) if float(target.force(x + H * speed)) - kd * speed > f else (low, f)
    return 0.5 * (low + high)


@pytest.mark.parametrize("solver", ["structured", "dantzig", "pgs"])
@pytest.mark.parametrize("seed", range(6))
def test_a_spring_of_segments_is_implicit(solver, seed):
    """Stiffening springs, steps and level parts: the force is that of the displacement after the step."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.normal(size=5))
    f = np.sort(rng.normal(scale=20, size=5))[::-1].copy()
    if seed % 3 == 1:
        x[2] = x[1]  # a jump
    if seed % 3 == 2:
        f[2] = f[1]  # a level part
    damping = float(seed % 2) * 3.0
    target = kt.soft.Target(
        segments=list(zip(x.tolist(), f.tolist(), strict=True)), damping=damping, beyond=(5.0, 80.0)
    )
    for start, speed in ((-2.0, 1.0), (0.1, 3.0), (1.0, -20.0), (0.0, 0.0), (3.0, 5.0)):
        world, _, row = particle(x=start, v=speed, target=[target, None, None])
        world.solver = solver
        world.step()
        expected = implicit_force(target, damping, 2.0, start, speed)
        if seed % 3 == 1 and abs(row.violation[0] + H * row.speed[0] - x[1]) < 1e-9:
            low, high = sorted((f[1], f[2]))
            assert low - 1e-6 <= row.force[0] + damping * row.speed[0] <= high + 1e-6
        assert row.force[0] == pytest.approx(expected, rel=1e-9, abs=1e-7), (start, speed)


def test_a_stiffening_spring_is_stiffer_outside():
    """Loose near its setpoint, stiffer beyond: the paper's Figure 15."""
    target = kt.soft.Target(segments=[(-0.1, 1.0), (0.1, -1.0)], beyond=500.0)
    assert float(target.force(0.05)) == pytest.approx(-0.5)
    assert float(target.force(0.3)) == pytest.approx(-1.0 - 500.0 * 0.2)
    world, _, row = particle(x=0.05, v=0.0, target=[target, None, None])
    world.step(3)
    assert abs(row.force[0]) < 1.0
    world, _, row = particle(x=0.3, v=0.0, target=[target, None, None])
    world.step()
    m, k, x = 2.0, 500.0, 0.3 - 0.098
    assert row.force[0] == pytest.approx(-k * x / (1 + H * H * k / m), rel=1e-12)


def test_what_is_torn_apart_is_corrected_at_a_limited_speed():
    """A row asks for no more than the world's limit: far away is not faster than near."""
    for shape in (None, kt.soft.Target(deadzone=(-1, 1)), kt.soft.Target(segments=[(-1, 1), (1, -1)], beyond=1e12)):
        world = kt.soft.World(dt=H, gravity=(0, 0, 0), erp=1.0, cfm=1e-12, correction_limit=50.0)
        body = world.add_body("b", mass=1.0, inertia=(1, 1, 1), pose=(1e6, 0, 0))
        world.add_marker("m", body, position=(0, 0, 0), target=[shape, None, None])
        world.step()
        assert body.velocity[3] == pytest.approx(-50.0, rel=1e-6)
    with pytest.raises(kt.errors.ArgumentError, match="correction_limit"):
        kt.soft.World(correction_limit=0.0)


def test_damping_alone_stops_in_one_step_where_it_is_infinite():
    """The paper: even an infinite damping gain is stable; it takes the whole velocity away."""
    _, body, _ = run = particle(stiffness=0.0, damping=np.inf)
    run[0].step()
    assert abs(body.velocity[3]) < 1e-15
