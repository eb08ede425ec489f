"""Draw image strips of the two scenes of demo_task.py."""

from contextlib import closing
from importlib import metadata
from xml.etree import ElementTree

import mujoco
import numpy as np
from camera import coloured
from drawing import TABLE
from mujoco_model import read_spec
from PIL import Image, ImageDraw, ImageFont
from renderer import Renderer
from scipy.spatial.transform import Rotation
from weight_shift import FEET, FREED, solo12

INK = '#1f2933'
LINKS = (0.92, 0.93, 0.95, 1.0), (0.20, 0.45, 0.78, 1.0)
WOOD, GREEN, RED = (0.80, 0.66, 0.48, 1.0), (0.10, 0.60, 0.30, 1.0), (0.85, 0.15, 0.12, 1.0)
GREY, DARK = (0.86, 0.87, 0.90, 1.0), (0.28, 0.31, 0.36, 1.0)
LENGTH = 0.02           # [m/N] of the arrows
LIFTED = 1e-3           # [m] lines above the table, to be seen
FOOT = 0.0165           # [m] from the foot's origin to the floor that is drawn under its mesh


def save_drawing_strip(path, run, columns=5, size=(300, 300)):
    """Save pictures of a Drawing; red: what is drawn, green: what shall be."""
    spec = coloured(run.urdf, LINKS, 0)
    path_on_table = run.wanted[run.drawing, :2]
    centre = (path_on_table.min(axis=0) + path_on_table.max(axis=0)) / 2
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.19, 0.19, TABLE / 2],
                            pos=[*centre, TABLE / 2], rgba=WOOD)
    first, last = run.drawing.start, run.drawing.stop - 1
    at = [0, *np.linspace(first, last, columns - 1).astype(int)]
    level = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, TABLE + LIFTED])
    with closing(Renderer(spec, size, 145.0, -22.0, [0.33, 0.0, 0.36], 1.45)) as view:
        pictures = []
        for k in at:
            view.data.qpos[:] = run.q[k]
            drawn, whole = (points * level[0] + level[1] for points in (
                run.tip[first:max(k, first) + 1:12], run.wanted[first:last:12]))
            image = view.render(lines=[(whole, GREEN), (drawn + [0, 0, LIFTED], RED)])
            pictures.append(captioned(
                image, f'{run.t[k]:.1f} s',
                f'presses {run.force[k, 2]:.1f} N, elbow {run.elbow[k, 2]:.2f} m high'))
    Image.fromarray(np.hstack(pictures)).save(path)


def save_stand_strip(path, run, columns=5, size=(300, 240)):
    """Save pictures of a Stand; red: forces of the ground, green: the freed foot."""
    end = run.freed.stop - 1
    eight = int(run.freed.start * 0.8)
    at = [*np.linspace(0.12 * eight, 0.75 * eight, columns - 1).astype(int), end]
    with closing(Renderer(_solo_spec(), size, 130.0, -24.0, [0.0, 0.0, 0.09], 0.80,
                          -FOOT)) as view:
        pictures = []
        for k in at:
            q = run.q[k]
            view.data.qpos[:] = [*q[:3], q[6], *q[3:6], *q[7:]]
            arrows = [(foot, foot + LENGTH * force, 8e-3, RED)
                      for foot, force in zip(run.feet[k], run.force[k]) if force[2] > 0.1]
            if run.force[k, FREED, 2] <= 0.1:
                foot = run.feet[k, FREED]
                arrows.append((foot + [0, 0, 0.12], foot + [0, 0, 0.02], 8e-3, GREEN))
            trail = run.com[max(0, k - 1500):k:15] if k < end else run.com[::15]
            off = 1e3 * np.linalg.norm(run.com[k] - run.wanted[k])
            pictures.append(captioned(
                view.render(lines=[(trail * [1, 1, 0] + [0, 0, 2e-3 - FOOT], GREEN)],
                            arrows=arrows), f'{run.t[k]:.1f} s',
                f'weight off by {off:.3f} mm, {FEET[FREED][:2]} {run.force[k, FREED, 2]:.1f} N'))
    Image.fromarray(np.hstack(pictures)).save(path)


def _solo_spec():
    """Return Solo12 with its meshes."""
    spec = read_spec(solo12())
    spec.worldbody.first_body().add_freejoint()
    for link, visual, file in _meshes():
        name = file.stem
        if spec.mesh(name) is None:
            spec.add_mesh(name=name, file=str(file))
        body = spec.body(link)
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, contype=0, conaffinity=0,
                      pos=visual[0], quat=visual[1], mass=0.0,
                      rgba=GREY if 'base' in name or 'upper' in name else DARK)
    return spec


def _meshes():
    """Yield (link, (position, quaternion w x y z), file) of each visual of Solo12."""
    data = metadata.distribution('example-robot-data')
    files = {str(file): data.locate_file(file) for file in data.files
             if 'solo_description/meshes' in str(file)}
    for link in ElementTree.parse(solo12()).getroot().iter('link'):
        for visual in link.findall('visual'):
            name = visual.find('geometry/mesh').get('filename').split('solo_description/')[1]
            origin = visual.find('origin')
            x, turn = ([float(word) for word in origin.get(key, '0 0 0').split()]
                       for key in ('xyz', 'rpy'))
            quaternion = Rotation.from_euler('xyz', turn).as_quat()
            yield (link.get('name'), (x, quaternion[[3, 0, 1, 2]]),
                   next(file for key, file in files.items() if key.endswith(name)))


def captioned(image, title, text):
    """Return a picture with two lines of text."""
    image = Image.fromarray(np.ascontiguousarray(image))
    pen, unit = ImageDraw.Draw(image), image.width / 30
    pen.text((unit, 0.7 * unit), title, fill=INK, font=ImageFont.load_default(1.6 * unit))
    pen.text((unit, 2.7 * unit), text, fill=INK, font=ImageFont.load_default(1.2 * unit))
    return np.asarray(image)
