"""Draw the bundled mechanisms, as in docs/mechanisms.md.

python examples/mechanisms.py [folder]      (needs matplotlib; the folder is docs/pictures)
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.spatial import ConvexHull, QhullError

from dynamics_node import Robot
from dynamics_node.example_robots import MECHANISMS

FOLDER = Path(__file__).resolve().parent.parent / 'docs' / 'pictures'
LINK, GROUND, MOTOR, LOOP, GHOST = '#2b5fa8', '#8a8a8a', '#d7301f', '#f28e1c', '#c9d6e8'
# What the picture shows beside q = 0: the mechanism with these joints moved, as a shadow.
MOVED = {
    'four_bar': {'crank_joint': 1.0},
    'slider_crank': {'crank_joint': -0.9},
    'five_bar': {'left_shoulder': 0.35, 'right_shoulder': 0.15},
    'stewart': {'platform_joint': (0.05, 0.1, 0.09, 0.1, 0.0, 0.0, 0.995)},
    'delta': {'shoulder_1': -0.35, 'shoulder_2': 0.25, 'shoulder_3': 0.2},
    'gripper': {'left_crank_joint': 0.45},
}
SPATIAL = ('stewart', 'delta')   # seen from above at a slant; the others from the front


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name in MECHANISMS:
        draw(name).print_png(folder / f'{name}.png')
        print(folder / f'{name}.png')


def draw(name):
    """Return the canvas with the picture of a mechanism."""
    robot = Robot.from_urdf(MECHANISMS[name].urdf, loops=MECHANISMS[name].loops, compile=False)
    loops = robot.loops
    figure = Figure(dpi=100)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, 0.1, 0.96, 0.82))
    view = slanted if name in SPATIAL else from_the_front
    for q, shadow in ((moved(robot, MOVED[name]), True), (robot.neutral(), False)):
        Sketch(axes, robot, loops, q, view, shadow).draw()
    axes.set_aspect('equal')
    axes.margins(0.1)
    axes.axis('off')
    axes.set_title(name.replace('_', '-'), fontsize=13)
    wide, high = axes.dataLim.size
    figure.set_size_inches(5.6, np.clip(5.6 * high / wide + 0.8, 2.4, 4.6))
    legend(figure, robot.model, loops)
    return canvas


def moved(robot, joints):
    """Return the configuration that keeps the loops, with these joints moved."""
    q = robot.neutral()
    for name, value in joints.items():
        q[robot.model.joint(name).q] = value
    return robot.project_configuration(q, fixed=list(joints))


# Two projections: world points (k, 3) -> points of the picture (k, 2) --------------------

def from_the_front(points):
    return np.asarray(points)[..., [0, 2]]


def slanted(points, azimuth=3.2, elevation=0.45):
    x, y, z = np.moveaxis(np.asarray(points), -1, 0)
    right = y * np.cos(azimuth) - x * np.sin(azimuth)
    away = x * np.cos(azimuth) + y * np.sin(azimuth)
    return np.stack([-right, z * np.cos(elevation) + away * np.sin(elevation)], axis=-1)


class Sketch:
    """A stick figure of one configuration: links, joints, and where the loops are closed."""

    def __init__(self, axes, robot, loops, q, view, shadow):
        self.axes, self.model, self.loops, self.shadow = axes, robot.model, loops, shadow
        self.view = view
        poses = {body.name: robot.frame_pose(q, body.name) for body in self.model.bodies}
        self.poses = [*poses.values(), np.eye(4)]  # that of the world is last, as in the model

    def draw(self):
        for body in range(-1, len(self.model.bodies)):
            self.link(body)
        for body in self.model.bodies:
            self.joint(body)
        for constraint in self.loops.constraints:
            self.closure(constraint)

    def seen(self, body, *points):
        """Return the points of a body in the picture, (k, 2)."""
        T = self.poses[body]
        return self.view(np.array(points) @ T[:3, :3].T + T[:3, 3])

    def link(self, body):
        """A line from joint to joint, or the patch between three and more."""
        colour = GROUND if body == -1 else LINK
        spots = self.seen(body, *self.spots(body))
        if self.shadow:
            colour = GHOST
        try:
            outline = spots[ConvexHull(spots).vertices]
            self.axes.fill(*outline.T, facecolor=colour, alpha=0.25, zorder=1)
            self.axes.fill(*outline.T, fill=False, edgecolor=colour, linewidth=2, zorder=1)
        except (QhullError, ValueError):  # fewer than three, or on a line
            self.axes.plot(*spots.T, color=colour, linewidth=2 if body == -1 else 5,
                           linestyle=':' if body == -1 else '-',
                           solid_capstyle='round', zorder=1)

    def spots(self, body):
        """Return the points of a body at which something is attached, in its own frame."""
        spots = [] if body == -1 else [np.zeros(3)]
        spots += [child.placement.p for child in self.model.bodies
                  if child.parent == body and kind(child) in ('Revolute', 'Prismatic')]
        for constraint in self.loops.constraints:
            spots += [spot for at, spot in self.ends(constraint) if at == body]
        spots += [frame.pose.p for name, frame in self.model.frames.items()
                  if frame.body == body and name.endswith(('pad', 'tool'))]
        return spots

    def ends(self, constraint):
        """Yield (body, point in it) of the two ends of a closure."""
        if constraint.kind != 'coupling':
            for name, closure in ((constraint.frame, constraint.placement),
                                  (constraint.to, constraint.to_placement)):
                frame = self.model.frame(name)
                yield frame.body, (frame.pose @ closure).p

    def joint(self, body):
        """Draw a disc for a hinge, a square for a slide; red and named where there is a motor."""
        if kind(body) == 'Floating':
            return
        place = self.model.bodies.index(body)
        spot = self.seen(place, np.zeros(3))[0]
        if kind(body) == 'Prismatic':
            spot = self.rail(body, place, spot)
        if self.shadow:
            return
        motor = body.joint_name not in self.loops.passive
        self.axes.plot(*spot, marker='o' if kind(body) == 'Revolute' else 's', zorder=3,
                       markersize=10 if motor else 7 if kind(body) == 'Revolute' else 18,
                       markeredgewidth=1.5, clip_on=False,
                       markerfacecolor=MOTOR if motor else 'white',
                       markeredgecolor=MOTOR if motor else LINK)
        if motor:
            self.label(body, place, spot)

    def label(self, body, place, spot):
        """Write the joint's name: of a slide beside it, of a hinge where its link is not."""
        where = ({'xytext': (8, 0), 'ha': 'left'} if spot[0] > 0.0
                 else {'xytext': (-8, 0), 'ha': 'right'})
        if kind(body) == 'Revolute':
            x, y = self.seen(place, *self.spots(place)).mean(axis=0) - spot
            where = {'xytext': (0, -15 if y > 0.5 * abs(x) else 15), 'ha': 'center'}
        self.axes.annotate(body.joint_name, spot, textcoords='offset points', va='center',
                           fontsize=9, color=MOTOR, zorder=5, **where,
                           bbox={'facecolor': 'white', 'alpha': 0.7, 'linewidth': 0, 'pad': 0.5})

    def rail(self, body, place, spot):
        """Draw the rail of a slide; return where to mark it."""
        colour = GHOST if self.shadow else GROUND if body.parent == -1 else LINK
        if body.parent == -1:  # along its axis, as far as it may go
            info, start = self.model.joint(body.joint_name), body.placement
            line = self.seen(-1, *(start.p + start.R @ body.joint.axis * reach
                                   for reach in (info.lower, info.upper)))
        else:                  # a telescope: from the foot of the cylinder to the end of the rod
            line = np.stack([self.seen(body.parent, np.zeros(3))[0], spot])
            spot = line.mean(axis=0)
        self.axes.plot(*line.T, color=colour, linewidth=2 if body.parent == -1 else 4, zorder=0)
        return spot

    def closure(self, constraint):
        """Draw a diamond where links meet, a line for a rod, an arc of dashes for gears."""
        if constraint.kind == 'coupling':
            names = [body.joint_name for body in self.model.bodies]
            ends = np.stack([self.seen(names.index(joint), np.zeros(3))[0]
                             for joint in constraint.joints])
        else:
            ends = np.stack([self.seen(*end)[0] for end in self.ends(constraint)])
        colour = GHOST if self.shadow else LOOP
        if constraint.kind in ('distance', 'coupling'):
            self.axes.plot(*ends.T, color=colour, linewidth=2.5, zorder=0 if self.shadow else 2,
                           linestyle='-' if constraint.kind == 'distance' else (0, (2, 1)))
        elif not self.shadow:
            self.axes.plot(*ends[0], marker='D', markersize=9, color=LOOP, zorder=4,
                           markeredgecolor='white')


def kind(body):
    return type(body.joint).__name__


def legend(figure, model, loops):
    """Add the meaning of the marks."""
    kinds = {constraint.kind for constraint in loops.constraints}
    marks = [Line2D([], [], marker='o', color='w', markerfacecolor=MOTOR, markersize=10,
                    label='motor')]
    if any(model.joint(name).kind != 'floating' for name in loops.passive):
        marks.append(Line2D([], [], marker='o', color='w', markerfacecolor='w', markersize=8,
                            markeredgecolor=LINK, markeredgewidth=1.5, label='passive joint'))
    if kinds - {'distance', 'coupling'}:
        marks.append(Line2D([], [], marker='D', color='w', markerfacecolor=LOOP, markersize=9,
                            label='loop closed here'))
    if 'distance' in kinds:
        marks.append(Line2D([], [], color=LOOP, linewidth=2.5, label='rod: a distance'))
    if 'coupling' in kinds:
        marks.append(Line2D([], [], color=LOOP, linewidth=2.5, linestyle=(0, (2, 1)),
                            label='gears: a coupling'))
    figure.legend(handles=marks, loc='lower center', ncols=len(marks), fontsize=9, frameon=False,
                  handlelength=1.5, columnspacing=1.5)


if __name__ == '__main__':
    main()
