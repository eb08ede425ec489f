"""Choose the parameters that are fitted: the law of friction, and the load of joints."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.identification.consistent_fit import consistent_fit, parameter_prior
from dynamics_node.identification.friction_choice import (
    AUTO,
    HEAD,
    PLAIN,
    choose_friction,
    friction_terms,
)
from dynamics_node.identification.friction_law import FrictionLaw
from dynamics_node.identification.identifiable_parameters import BaseParameters, base_parameters
from dynamics_node.identification.joint_load import JointLoad, recorded_load
from dynamics_node.identification.linear_fit import linear_fit
from dynamics_node.identification.parameters import (
    ParameterLayout,
    parameter_layout,
    parameter_values,
    payload_parameters,
)
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.sequential_qr import Tick, no_tick
from dynamics_node.identification.transmission import Transmission
from dynamics_node.robot.robot import Robot

LOAD_ROUNDS = 3   # of the fit: the load depends on the links, and these on friction
OF_LOAD = 'friction in proportion to the load, of which the node uses the part at the mean load'


class FittedLayout(NamedTuple):
    """The parameters to fit, and what is said about their friction."""

    layout: ParameterLayout
    friction: str


def fitted_layout(robot: Robot, base: BaseParameters, train: Recording, friction: str,
                  stribeck_speed: float | None, transmission: Transmission | None,
                  prior_weight: float, factor: int, tick: Tick = no_tick) -> FittedLayout:
    """Return the FittedLayout of a recording.

    :param base: with the law of friction of the robot.
    :param friction: see `friction_choice.friction_terms`.
    :param stribeck_speed: fits Stribeck friction with this speed; None: as `friction` says.
    :param factor: factor of decimation, see decimation.py.
    :param tick: called with the share of the choice that is done; may raise to stop.
    """
    terms = friction_terms(friction)
    if base.loops is not None or terms == (PLAIN,):
        laws = _given_laws(base, terms, stribeck_speed)
        text = f'{HEAD}; {_text(robot, laws)}'
    else:
        prior = parameter_prior(base.layout, parameter_values(robot, base.layout), train,
                                prior_weight)
        choice = choose_friction(robot, base, train, base.values(prior.values), terms,
                                 stribeck_speed, factor, tick)
        laws, text = choice.laws, choice.text(robot.dof_names)
    layout = parameter_layout(robot, None, transmission, laws)
    if 'load' not in terms:
        return FittedLayout(layout, text)
    for _ in range(LOAD_ROUNDS):
        layout = layout._replace(load=_load(robot, layout, train, prior_weight, factor))
    return FittedLayout(layout, f'{text}; {OF_LOAD}')


def _given_laws(base: BaseParameters, terms: Sequence[str], stribeck_speed: float | None
                ) -> tuple[FrictionLaw, ...]:
    """Return the laws of a robot for which nothing is chosen, such as one with loops."""
    if 'load' in terms or ('stribeck' in terms and stribeck_speed is None):
        raise DynamicsError(
            'friction of a robot with loops is not chosen from the data and has no load; expected '
            f'{AUTO}, {PLAIN} or asymmetric, and perhaps a stribeck_speed')
    auto = AUTO in terms
    measured: np.ndarray = np.arange(len(base.layout.laws))
    if base.loops is None:
        measured = measured[base.rows]   # other joints keep their law
    return tuple(law._replace(
        stribeck_speed=stribeck_speed or (law.stribeck_speed if auto else None),
        asymmetric='asymmetric' in terms or (auto and law.asymmetric))
        if k in measured else law for k, law in enumerate(base.layout.laws))


def _text(robot: Robot, laws: Sequence[FrictionLaw]) -> str:
    """Return the laws: one if all joints have the same, else that of each joint."""
    return str(laws[0]) if len({*laws}) == 1 else '; '.join(
        f'{joint}: {law}' for joint, law in zip(robot.dof_names, laws))


def _load(robot: Robot, layout: ParameterLayout, train: Recording, prior_weight: float, factor: int
          ) -> JointLoad:
    """Return the JointLoad, of links that are fitted with the load so far, at first without."""
    base = base_parameters(robot, layout, measured=train.with_effort)
    prior = parameter_prior(layout, parameter_values(robot, layout), train, prior_weight)
    linear = linear_fit(robot, base, train, base.values(prior.values), factor=factor)
    values = consistent_fit(base, linear.problem, prior).values + payload_parameters(robot, layout)
    return recorded_load(robot, values[:layout.inertial], train)
