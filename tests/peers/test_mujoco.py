"""MuJoCo and kinetree agree on random trees of every kind of joint that MuJoCo can make."""

import pytest

import kinetree as kt
import oracle

pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'kinetree[io]'")

from agree import assert_agree
from mujoco_twin import FileTwin, Twin

INNER = ("revolute", "prismatic", "universal", "spherical", "planar", "fixed")


def cases():
    for seed in range(12):
        model = oracle.random_model(seed, 5 + seed, INNER, massless=0.0, armature=0.0, roots=0.0, first="free")
        yield pytest.param(model, id=f"floating {seed}")
    for seed in range(12):
        yield pytest.param(oracle.random_model(seed, 5 + seed, INNER, massless=0.0), id=f"fixed {seed}")
    for kind in INNER[:-1]:
        yield pytest.param(oracle.random_model(1, 6, (kind,), massless=0.0), id=kind)


@pytest.mark.parametrize("model", list(cases()))
def test_random_trees(model):
    """Forward and inverse dynamics, mass matrix, energies and Jacobians agree to 1e-10."""
    twin = Twin(model)
    for seed in range(3):
        assert_agree(model, twin, seed)


@pytest.mark.parametrize("name", ["humanoid.xml", "humanoid100.xml"])
def test_model_files(shared_data, name):
    """What `load` reads from MuJoCo's own models moves as in MuJoCo, to 1e-10."""
    path = shared_data / "models" / name
    model = kt.load(path)
    twin = FileTwin(model, str(path))
    for seed in range(3):
        assert_agree(model, twin, seed)
