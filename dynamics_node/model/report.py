"""Report the content of a model, and findings on implausible values."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError, several, shown
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.model import WORLD, JointInfo, Model
from dynamics_node.model.records import LinkRecord

LEVELS = ('error', 'warning', 'note')
WRITTEN_DIGITS = 1e-6  # relative: URDFs are written with six digits or so
ROUNDING = 1e-14       # relative: of a moment shifted to the origin and back
UNITS = {              # of every number in the report; the second unit is that of prismatic joints
    'total_mass': 'kg', 'moving_mass': 'kg', 'mass': 'kg', 'com': 'm',
    'moments': 'kg m^2', 'inertia': 'kg m^2', 'lower': 'rad or m', 'upper': 'rad or m',
    'max_velocity': 'rad/s or m/s', 'max_effort': 'N m or N', 'friction': 'N m or N',
    'damping': 'N m s/rad or N s/m', 'armature': 'kg m^2 or kg', 'nq': '1', 'nv': '1',
    'stribeck': 'N m or N', 'stribeck_speed': 'rad/s or m/s', 'friction_asymmetry': 'N m or N',
    'damping_asymmetry': 'N m s/rad or N s/m', 'friction_speed': 'rad/s or m/s',
}


class LinkLine(NamedTuple):
    """One link of the report."""

    name: str
    mass: float       # [kg]
    com: tuple        # centre of mass in the link frame [m]
    moments: tuple    # principal moments about the centre of mass, ascending [kg m^2]
    body: str         # the moving link it is fixed to, '' for the world


class JointLine(NamedTuple):
    """One moving joint of the report; nan means unknown."""

    name: str
    kind: str
    lower: float
    upper: float
    max_velocity: float
    max_effort: float
    damping: float
    friction: float
    armature: float
    mimics: tuple     # joints that follow it
    stribeck: float   # this and what follows: see FrictionTerms
    stribeck_speed: float
    friction_asymmetry: float
    damping_asymmetry: float
    friction_speed: float


class Finding(NamedTuple):
    """A finding: 'error' is physically impossible, 'warning' doubtful, 'note' information."""

    level: str
    where: str
    text: str


class ModelReport(NamedTuple):
    """The structured report; str(report) is the text."""

    name: str
    base: str
    total_mass: float
    moving_mass: float
    nq: int
    nv: int
    links: tuple
    joints: tuple
    payloads: dict
    findings: tuple

    def __str__(self) -> str:
        return '\n'.join([*_head(self), '', *_link_table(self.links), '',
                          *_joint_table(self.joints), '', *_finding_lines(self.findings)])

    def as_dict(self) -> dict:
        """Return the report as dicts, lists, strings and numbers, for strict JSON.

        Keys are the names of the fields; 'units' has the units. None means no limit (lower,
        upper) or unknown (max_velocity, max_effort).
        """
        return {**_plain(self), 'units': dict(UNITS)}


def model_report(model: object) -> ModelReport:
    """Return the ModelReport of a Model, or of a Robot."""
    given, model = model, getattr(model, 'model', model)
    if not isinstance(model, Model):
        raise DynamicsError(f'model is {shown(given)}; expected a Robot or a Model')
    links = tuple(_link_line(model, record) for record in model.links)
    joints = tuple(_joint_line(model, joint) for joint in model.joints)
    base = 'floating' if any(body.parent == WORLD and body.name == model.root
                             for body in model.bodies) else 'fixed'
    moving = sum(inertia.mass for inertia in model.inertias[:WORLD])
    return ModelReport(model.name, base, float(moving + model.inertias[WORLD].mass), float(moving),
                       model.nq, model.nv, links, joints, dict(model.payloads),
                       tuple(_findings(model, links, joints)))


def _plain(value: Any) -> Any:
    if hasattr(value, '_asdict'):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else None
    return value


def _link_line(model: Model, record: LinkRecord) -> LinkLine:
    frame = model.frames[record.name]
    body = '' if frame.body == WORLD else model.bodies[frame.body].name
    moments = np.linalg.eigvalsh(record.inertia.tensor_about_com())
    return LinkLine(record.name, float(record.inertia.mass), tuple(record.inertia.com.tolist()),
                    tuple(moments.tolist()), body)


def _joint_line(model: Model, joint: JointInfo) -> JointLine:
    first = joint.v.start
    terms = model.friction_terms or FrictionTerms.none(model.nv, model.friction_speed)
    return JointLine(joint.name, joint.kind, joint.lower, joint.upper, joint.max_velocity,
                     joint.max_effort, float(model.damping[first]), float(model.friction[first]),
                     float(model.armature[first]), joint.mimics,
                     *(float(term[first]) for term in terms))


def _findings(model: Model, links: Sequence[LinkLine], joints: Sequence[JointLine]
              ) -> Iterator[Finding]:
    yield from _mass_findings(model)
    for link in links:
        yield from _inertia_findings(link)
    for joint in joints:
        yield from _joint_findings(joint)
    with_friction = [joint.name for joint in joints if joint.damping or joint.friction]
    if with_friction:
        yield Finding('note', 'robot', 'damping or friction is part of the dynamics of '
                      f'{", ".join(with_friction)}')
    for text in model.warnings:
        yield Finding('note', 'description', text)


def _mass_findings(model: Model) -> Iterator[Finding]:
    massless = [body for body, inertia in zip(model.bodies, model.inertias) if inertia.mass == 0.0]
    if massless and len(massless) == len(model.bodies):
        yield Finding('error', 'robot', f'0 of {len(massless)} moving links have mass: '
                      'every torque of gravity will be zero')
    has_inertia = _moves_inertia(model)
    for joint in model.joints:
        if not has_inertia[joint.v].any():
            yield Finding('error', joint.name, 'moves nothing that has mass or inertia: '
                          'forward dynamics is not defined')
    for body in massless:
        yield Finding('warning', body.name, f"moving link without mass (joint '{body.joint_name}')")


def _moves_inertia(model: Model) -> np.ndarray:
    """Return whether each degree of freedom moves any inertia of its subtree, (nv,)."""
    moves = model.armature > 0.0
    heavy = [inertia.mass > 0.0 or inertia.tensor.any() for inertia in model.inertias]
    for i in reversed(range(len(model.bodies))):
        body = model.bodies[i]
        if heavy[i]:
            moves[body.v] = heavy[body.parent] = True
    return moves


def _inertia_findings(link: LinkLine) -> Iterator[Finding]:
    low, middle, high = link.moments
    size = max(-low, high)
    rounding = ROUNDING * (size + link.mass * np.dot(link.com, link.com))
    shown = 'principal moments ' + ', '.join(f'{moment:.3g}' for moment in link.moments)
    if link.mass == 0.0:
        if size > 0.0:
            yield Finding('warning', link.name, f'has inertia but no mass: {shown}')
    elif size <= rounding:
        if link.body:
            yield Finding('warning', link.name, 'has mass but no inertia: a point mass')
    elif low <= rounding:
        yield Finding('error', link.name, f'inertia is not positive definite: {shown}')
    elif low + middle < (1.0 - WRITTEN_DIGITS) * high - rounding:
        yield Finding('error', link.name, 'inertia violates the triangle inequality, no mass '
                      f'distribution has it: {shown}')


def _joint_findings(joint: JointLine) -> Iterator[Finding]:
    if joint.kind not in ('planar', 'floating'):
        if np.isnan(joint.max_effort):
            yield Finding('warning', joint.name, 'effort limit 0 or absent: taken as unknown')
        if np.isnan(joint.max_velocity):
            yield Finding('note', joint.name, 'velocity limit 0 or absent: taken as unknown')
    if joint.mimics:
        yield Finding('note', joint.name, f'also moves {", ".join(joint.mimics)} (mimic)')


def _head(report: ModelReport) -> list[str]:
    return [f"robot '{report.name}', base {report.base}, nq = {report.nq}, nv = {report.nv}",
            f'total mass {report.total_mass:.6g} kg, of which {report.moving_mass:.6g} kg move',
            *(f"payload '{name}': {load.mass:g} kg at {load.frame}"
              for name, load in report.payloads.items())]


def _link_table(links: Sequence[LinkLine]) -> Iterator[str]:
    width = max(len('link'), *(len(link.name) for link in links))
    yield (f'{"link":{width}}  {"mass [kg]":>10}  {"centre of mass [m]":>24}  '
           f'{"principal moments [kg m^2]":>30}  moves with')
    for link in links:
        com = ' '.join(f'{x:7.3f}' for x in link.com)
        moments = ' '.join(f'{x:9.3g}' for x in link.moments)
        yield (f'{link.name:{width}}  {link.mass:10.4g}  {com:>24}  {moments:>30}  '
               f'{link.body or "(world)"}')


def _joint_table(joints: Sequence[JointLine]) -> Iterator[str]:
    if not joints:
        yield 'no moving joint'
        return
    width = max(len('joint'), *(len(joint.name) for joint in joints))
    columns = ('lower', 'upper', 'velocity', 'effort', 'damping', 'friction', 'armature')
    yield f'{"joint":{width}}  {"type":10}  ' + '  '.join(f'{name:>8}' for name in columns)
    for joint in joints:
        cells = '  '.join(f'{"unknown" if np.isnan(x) else format(x, ".4g"):>8}'
                          for x in joint[2:9])
        yield f'{joint.name:{width}}  {joint.kind:10}  {cells}'


def _finding_lines(findings: Sequence[Finding], most_notes: int = 12) -> Iterator[str]:
    if not findings:
        yield 'no findings'
        return
    counts = {level: sum(f.level == level for f in findings) for level in LEVELS}
    yield ', '.join(several(n, level) for level, n in counts.items())
    for level in LEVELS:
        lines = [f'  {level}: {f.where}: {f.text}' for f in findings if f.level == level]
        yield from lines if level != 'note' else lines[:most_notes]
    if counts['note'] > most_notes:
        yield f'  ... and {counts["note"] - most_notes} more notes, all in report.findings'
