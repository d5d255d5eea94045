"""Pinocchio and kinetree agree on random trees of every kind of joint."""

import pytest

import kinetree as kt
import oracle

pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'kinetree[bench]'")

from agree import assert_agree
from pinocchio_twin import FileTwin, Twin

WITH_ROTORS = tuple(kind for kind in oracle.KINDS if kind not in ("free", "planar"))  # see Twin


def cases():
    for seed in range(20):
        yield pytest.param(oracle.random_model(seed, 4 + seed, massless=0.0, armature=0.0), id=f"all kinds {seed}")
    for seed in range(8):
        yield pytest.param(oracle.random_model(seed, 14, WITH_ROTORS, massless=0.3), id=f"rotors {seed}")
    for kind in oracle.MOVING:
        yield pytest.param(oracle.random_model(1, 6, (kind,), armature=0.0), id=kind)


@pytest.mark.parametrize("model", list(cases()))
def test_random_trees(model):
    """Forward and inverse dynamics, mass matrix, energies and Jacobians agree to 1e-10."""
    twin = Twin(model)
    for seed in range(3):
        assert_agree(model, twin, seed, rotors=False)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", ["panda", "ur5_robot", "talos_full_v2", "simple_humanoid"])
def test_model_files(shared_data, name, floating):
    """What `load` reads from a URDF file moves as what Pinocchio reads from it, to 1e-10."""
    path = shared_data / "models" / f"{name}.urdf"
    model = kt.load(path, floating=floating)
    twin = FileTwin(model, str(path), floating)
    for seed in range(3):
        assert_agree(model, twin, seed, rotors=False)
