"""Test bodies at rest on the ground against MuJoCo.

Its contacts are another model of soft ground: the way to rest differs, the rest does not.
"""

import mujoco
import numpy as np
import pytest
from support.rigid_robots import G, body, still

from dynamics_node import RigidContact, SoftContact

MASS, HALF = 2.0, (0.2, 0.1, 0.05)
CORNERS = [(x, y, -HALF[2]) for x in (-HALF[0], HALF[0]) for y in (-HALF[1], HALF[1])]
SCENE = f"""<mujoco><option timestep="0.001" gravity="0 0 {-G}"/><worldbody>
<geom type="plane" size="5 5 0.1"/><body pos="0 0 0.1"><freejoint/>
<geom type="box" size="{HALF[0]} {HALF[1]} {HALF[2]}" mass="{MASS}" friction="0.8 0 0"/>
</body></worldbody></mujoco>"""


def test_a_box_comes_to_rest_where_mujocos_does():
    """Thrown sideways from 5 cm: height to 1 mm, level, forces of m g; it slides as far to 20 %."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    data.qvel[0] = 1.0
    mujoco.mj_step(model, data, 1000)
    theirs = np.zeros(6)
    for k in range(data.ncon):
        part = np.zeros(6)
        mujoco.mj_contactForce(model, data, k, part)
        theirs += part
    assert theirs[0] == pytest.approx(MASS * G, rel=0.01)   # the normal comes first

    box = body(mass=MASS, inertia=model.body_inertia[1])
    ground = [SoftContact(f'corner{k}', 'body', 5000.0, 60.0, 0.8, corner)
              for k, corner in enumerate(CORNERS)]
    soft = box.simulate(still(0.1), [1.0, 0, 0, 0, 0, 0], np.zeros(6), [0.0, 0.7], step=0.002,
                        contacts=ground)
    rigid = box.simulate(still(0.1), np.zeros(6), np.zeros(6), [0.0, 0.15], step=0.01, contacts=[
        RigidContact(f'corner{k}', 'body', point=corner) for k, corner in enumerate(CORNERS)])
    for ours in (soft, rigid):
        assert ours.q[-1, 2] == pytest.approx(data.qpos[2], abs=1e-3)
        assert np.abs(ours.q[-1, 3:5]).max() < 1e-3
        assert ours.contact_force[-1].sum(axis=0) == pytest.approx([0, 0, theirs[0]], abs=0.2)
        assert np.abs(ours.v[-1]).max() < 0.01
    assert soft.q[-1, 0] == pytest.approx(data.qpos[0], rel=0.2)
