"""The governor holds a time budget on a simulated machine: cost linear in the joints, with noise and disturbances."""

import numpy as np
import pytest

from kinetree.adaptive.governor import Governor
from kinetree.errors import ArgumentError

BUDGET = 1e-3
MOST = 19000
WARM_UP = 30  # blocks; from 16 joints by doubling, and some to learn
MACHINES = [(20e-6, 1e-6), (300e-6, 1e-6), (800e-6, 0.2e-6), (1e-6, 20e-6)]  # seconds: per step, per joint


def still(_):
    return 1.0, 1.0


def moving(block):
    """Return by what costs are multiplied as a camera swings to and fro: twice as dear, half as dear."""
    return 1.0 + 0.2 * np.sin(block / 20), 2.0 ** np.sin(block / 40)


def drive(governor, machine, blocks=500, *, noise=0.05, outliers=0.03, burst=1, seed=0, change=still, least=0):
    """Let a governor drive a machine; returns the times over the budget and the joints, block by block."""
    rng = np.random.default_rng(seed)
    times, joints, left = [], [], 0
    for block in range(blocks):
        fixed, each = change(block)
        n = min(max(governor.joints, least), governor.most)
        seconds = (machine[0] * fixed + machine[1] * each * n) * np.exp(noise * rng.normal())
        if left == 0 and rng.random() < outliers:
            left = burst
        if left:
            seconds *= rng.uniform(2, 10)
            left -= 1
        times.append(seconds / governor.seconds_per_step)
        joints.append(n)
        governor.update(n, seconds)
    return np.array(times), np.array(joints)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("change", [still, moving])
@pytest.mark.parametrize("noise", [0.0, 0.03, 0.06])
@pytest.mark.parametrize("seed", range(3))
def test_nineteen_of_twenty_blocks_hold_the_budget(machine, change, noise, seed):
    """The 95th percentile is within 20 % of the budget, and the budget is used."""
    if change is moving and machine[0] > 0.5 * BUDGET:
        machine = (0.5 * BUDGET, machine[1])  # what is the same at any number of joints must leave room
    times, joints = drive(Governor(BUDGET, MOST), machine, noise=noise, seed=seed, change=change)
    times = times[WARM_UP:]
    p95, middle = np.percentile(times, 95), np.median(times)
    print(f"95 %: {p95:.3f}, median {middle:.3f}, joints {joints[WARM_UP:].min()} to {joints.max()}")
    assert 0.8 < p95 < 1.2
    assert 0.92 < middle < 1.05


@pytest.mark.parametrize("machine", MACHINES)
def test_a_quiet_machine_is_used_to_the_last_joint(machine):
    """Without any noise the joints are those that the budget pays for."""
    _, joints = drive(Governor(BUDGET, MOST), machine, 60, noise=0.0, outliers=0.0)
    best = (BUDGET - machine[0]) / machine[1]
    assert joints[-1] == pytest.approx(best, rel=0.01, abs=1)


@pytest.mark.parametrize("factor", [3.0, 1 / 3])
def test_a_sudden_change_is_believed_and_followed(factor):
    """A machine that is suddenly slower or faster: a dozen blocks later the budget is held again."""
    times, _ = drive(
        Governor(BUDGET, MOST), (50e-6, 1e-6), 120, noise=0.03, outliers=0.0,
        change=lambda block: (factor, factor) if block >= 60 else (1.0, 1.0),
    )  # fmt: skip
    print(times[58:75].round(2))
    assert abs(np.median(times[45:60]) - 1) < 0.05
    assert abs(np.median(times[72:84]) - 1) < 0.08


def test_a_single_disturbance_changes_nothing():
    """One block that takes ten times as long is not believed; the next one is as if nothing had been."""
    governor = Governor(BUDGET, MOST)
    drive(governor, (50e-6, 1e-6), 60, noise=0.02, outliers=0.0)
    before = governor.joints
    assert governor.update(before, 10 * BUDGET) == before
    assert governor.update(before, BUDGET) == pytest.approx(before, rel=0.05)


def test_pairs_of_disturbances_are_recovered_from():
    """Disturbances that last for two blocks are believed, but cost only a few blocks."""
    times, _ = drive(Governor(BUDGET, MOST), (50e-6, 1e-6), 600, outliers=0.01, burst=2)
    times = times[WARM_UP:]
    print(np.percentile(times, [5, 25, 50, 75, 95]).round(3))
    assert abs(np.median(times) - 1) < 0.05
    assert (np.abs(times - 1) < 0.2).mean() > 0.85


def test_changes_are_bounded():
    """The joints at most double and at least halve, whatever is measured."""
    rng = np.random.default_rng(1)
    governor = Governor(BUDGET, MOST)
    for _ in range(500):
        before = governor.joints
        after = governor.update(before, BUDGET * 10.0 ** rng.uniform(-4, 4))
        assert max(1, before // 2) <= after <= min(max(2 * before, 2), MOST)


def test_a_budget_that_cannot_be_held_leaves_one_joint():
    """Even one joint takes too long; when the machine becomes faster, the joints come back."""
    governor = Governor(BUDGET, MOST)
    _, joints = drive(governor, (3e-3, 1e-6), 60)
    assert (joints[20:] == 1).all()
    assert not governor.attainable
    times, joints = drive(governor, (0.2e-3, 1e-6), 60)
    assert governor.attainable
    assert joints[-1] > 500
    assert abs(np.median(times[-20:]) - 1) < 0.1


def test_a_budget_that_is_too_generous_moves_all():
    """All joints are simulated, and no more; a budget that becomes scarce is held."""
    governor = Governor(BUDGET, 95)
    _, joints = drive(governor, (10e-6, 1e-6), 60)
    assert (joints[20:] == 95).all()
    assert governor.predict(95) == pytest.approx(105e-6, rel=0.1)
    times, joints = drive(governor, (10e-6, 20e-6), 80)
    assert joints[-1] < 60
    assert abs(np.median(times[-30:]) - 1) < 0.1


def test_roots_that_always_move_do_not_confuse_it():
    """More joints are simulated than were asked for, since free roots always are."""
    governor = Governor(BUDGET, MOST)
    _, joints = drive(governor, (100e-6, 6e-6), 60, least=200)
    assert (joints == 200).all()
    assert governor.joints < 200
    times, _ = drive(governor, (100e-6, 1e-6), 60, least=200)
    assert abs(np.median(times[-20:]) - 1) < 0.05


def test_what_is_allowed_but_not_used_stays_allowed():
    """A body that sleeps for a while may use its joints at once when it wakes."""
    governor = Governor(BUDGET, MOST)
    drive(governor, (50e-6, 1e-6), 60, noise=0.01, outliers=0.0)
    before = governor.joints
    for _ in range(20):
        governor.update(0, 50e-6)
    assert governor.joints >= 0.9 * before


def test_a_first_block_that_compiles_is_forgotten():
    """The first block takes a thousand times as long; the budget is used all the same."""
    governor = Governor(BUDGET, MOST)
    governor.update(governor.joints, 1.0)
    times, _ = drive(governor, (50e-6, 1e-6), 60, noise=0.02, outliers=0.0)
    assert abs(np.median(times[-20:]) - 1) < 0.05


def test_a_saved_governor_goes_on_to_the_bit():
    """What it remembers is a small array; another budget is taken into account."""
    governor = Governor(BUDGET, MOST)
    drive(governor, MACHINES[0], 57)
    saved = governor.snapshot()
    assert saved.dtype == np.float64
    assert saved.size <= 16
    twin, double = Governor(BUDGET, MOST), Governor(2 * BUDGET, MOST)
    twin.resume(saved)
    double.resume(saved)
    assert double.predict(700) == pytest.approx(governor.predict(700), rel=1e-12)
    first, second = drive(governor, MACHINES[0], 50, seed=5), drive(twin, MACHINES[0], 50, seed=5)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(governor.snapshot(), twin.snapshot())
    small = Governor(BUDGET, 10)
    small.resume(saved)
    assert small.joints == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((0.0, 5), "seconds_per_step is 0.0"),
        ((float("nan"), 5), "seconds_per_step is nan"),
        ((1e-3, 0), "most is 0"),
        ((1e-3, 2.5), "most is 2.5"),
    ],
)
def test_bad_budgets_are_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        Governor(*options)


def test_bad_measurements_are_named():
    """Times that no clock shows, and memories of something else."""
    governor = Governor(BUDGET, 10)
    for joints, seconds, message in ((-1, 1.0, "joints is -1"), (1, -1.0, "seconds is -1"), (1, np.nan, "is nan")):
        with pytest.raises(ArgumentError, match=message):
            governor.update(joints, seconds)
    with pytest.raises(ArgumentError, match="first is 0"):
        Governor(BUDGET, 10, first=0)
    with pytest.raises(ArgumentError, match="remembers 10 finite numbers"):
        governor.resume(np.zeros(3))
    assert 1 <= governor.update(3, 0.0) <= 10  # a clock may show nothing
