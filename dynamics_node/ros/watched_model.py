"""Rebuild the robot of a node in another process, with all that its parameters and services set."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python

from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.live_state import NodeModel
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.model import Model, Payload
from dynamics_node.robot.changes import without_payloads
from dynamics_node.ros import convert
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.declared import (
    ModelParameters,
    NodeParameters,
    checked,
    declared_name,
)
from dynamics_node.ros.shared_folders import IS_PATH
from dynamics_node.srv import ModelReport

EVERY = 2.0      # [s] between two requests
PATIENCE = 6.0   # [s] after which a node that does not answer is shown by its description alone
UNANSWERED = ('The node does not answer requests for its parameters: locked joints, armature, '
              'friction, springs and loops that they set are not known to this page')
DIFFERENT = ('The model of this page differs from the model of the node: its torques can differ '
             'from the wanted ones')
FRICTION = ('damping', 'friction', *FrictionTerms._fields)


class MalformedReport(DynamicsError):
    """An answer of the service model_report that no node of this package sends."""


class WatchedModel:
    """The robot of a node: description, parameters, gravity and friction of services.

    The node's own code reads them, and the hash `model_id` of both robots is compared.

    :ivar model: NodeModel without payloads; None while there is none.
    :ivar parameters: NodeParameters; None until they have arrived.
    :ivar refusal: why the description or a parameter cannot be used here, '' if it can.
    """

    CLIENTS = 3   # callbacks of one read

    def __init__(self, node: Node, name: str) -> None:
        """Create the clients."""
        self._report: Any = node.create_client(ModelReport, f'{name}/model_report')
        self._list: Any = node.create_client(ListParameters, f'{name}/list_parameters')
        self._get: Any = node.create_client(GetParameters, f'{name}/get_parameters')
        self._current = CurrentRobot(time.monotonic)
        self._description: str | None = None
        self._payloads: Mapping[str, Payload] = {}
        self._next, self._deadline = 0.0, np.inf
        self._used: tuple | None = None     # what `model` was made from
        self._differs = 0                   # comparisons with another model_id, without a break
        self.model: NodeModel | None = None
        self.parameters: NodeParameters | None = None
        self.refusal = ''

    def describe(self, text: str) -> None:
        """Use a description that has arrived; it has priority over the parameter."""
        self._description, self._next = text, 0.0
        self._deadline = min(self._deadline, time.monotonic() + PATIENCE)

    def carry(self, payloads: Mapping[str, Payload]) -> None:
        """Use these payloads for the comparison of the hashes; none of them is in transition."""
        self._payloads = payloads

    def request(self) -> None:
        """Ask the node, if it is time; the answers are taken by later reads."""
        now = time.monotonic()
        if now > self._next and all(each.service_is_ready()
                                    for each in (self._report, self._list, self._get)):
            self._next = now + EVERY
            self._report.call_async(ModelReport.Request()).add_done_callback(self._on_report)
        if now > self._deadline and self.parameters is None and self._description is not None:
            self._deadline = np.inf
            self._load(self._description, ModelParameters(), UNANSWERED)

    def _on_report(self, future: Any) -> None:
        report = future.result()
        self._list.call_async(ListParameters.Request()).add_done_callback(
            lambda listed: self._on_names(report, listed.result().result.names))

    def _on_names(self, report: ModelReport.Response, names: list[str]) -> None:
        names = [name for name in names if declared_name(name)]
        self._get.call_async(GetParameters.Request(names=names)).add_done_callback(
            lambda found: self._on_values(report, names, found.result().values))

    def _on_values(self, report: ModelReport.Response, names: list[str], values: list) -> None:
        values = [parameter_value_to_python(value) for value in values]
        used = self._description, list(zip(names, values)), report.model_id, self._payloads
        if used == self._used:
            return
        try:
            self.parameters = checked({name: value for name, value in zip(names, values)
                                       if value is not None})
        except DynamicsError as error:
            self.refusal = str(error)
            return
        self._used = used
        source = self._description or self.parameters.node.robot_description
        if source:
            self._load(source, self.parameters.node, '', report if report.success else None)

    def _load(self, source: str, parameters: ModelParameters, note: str,
              report: ModelReport.Response | None = None) -> None:
        """Make the model; keep the one before if that is refused."""
        # Bytes are always text; the parameter may be a path.
        given = source if self._description is None else source.encode('utf-8', 'surrogatepass')
        try:
            self._current.load(given, parameters)
            if report is not None:
                self._use(report)
                note = note or self._compared(report.model_id)
        except MalformedReport as error:
            self.refusal = str(error)
            return
        except DynamicsError as error:
            self.refusal = self._reason(error, parameters)
            return
        self.refusal = ''
        robot = without_payloads(self._current.settled_robot()[0])
        shared = self._current.shared()
        self.model = NodeModel((shared.serial, self._current.text), robot, self._current.text, note)

    def _reason(self, error: DynamicsError, parameters: ModelParameters) -> str:
        """Return why the model is refused; the page must not show files that a node has named."""
        given = {name: getattr(parameters, name) for name in IS_PATH
                 if name != 'robot_description' or self._description is None}
        files = [name for name, value in given.items() if value and IS_PATH[name](value)]
        return str(error) if not files else (
            f'the file of the parameter {" or ".join(files)} is missing on this machine, or cannot '
            'be used')

    def _use(self, report: ModelReport.Response) -> None:
        """Use gravity and friction in use at the node: services may have set them."""
        current, model = self._current, self._current.settled_robot()[0].model
        gravity = convert.xyz(report.gravity)
        if not np.array_equal(gravity, current.settled_robot()[0].gravity):
            current.set_gravity(gravity)
        changes = changed_friction(report.json, model)
        if any(changes.values()):
            # An argument that is given makes FrictionTerms, even if it is empty.
            further = {kind: values for kind, values in changes.items() if values}
            current.set_friction(further.pop('damping', {}), further.pop('friction', {}), (),
                                 **further)

    def _compared(self, model_id: str) -> str:
        """Return the note for the page if the robot here differs from the robot of the node."""
        current = self._current
        for name in set(current.payloads) - set(self._payloads):
            current.remove_payload(name, 0.0)
        for name, load in self._payloads.items():
            current.set_payload(name, load, 0.0)
        # A payload may have changed between two answers: only a lasting difference is one.
        self._differs = 0 if current.settled_robot()[1] == model_id else self._differs + 1
        if self._differs:
            self._used = None   # compare again
        return DIFFERENT if self._differs > 1 else ''


def changed_friction(text: str, model: Model) -> dict[str, dict[str, float]]:
    """Return {kind: {joint: value}} of the friction in a report that a model does not have.

    :param text: the field json of the report.
    :raise MalformedReport: the text is not such a report.
    """
    terms = model.friction_terms or FrictionTerms.none(model.nv, model.friction_speed)
    own = {'damping': model.damping, 'friction': model.friction, **terms._asdict()}
    try:
        lines = {line['name']: [float(line[kind]) for kind in FRICTION]
                 for line in json.loads(text)['joints']}
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise MalformedReport('the answer of the service model_report is malformed: '
                              f'{type(error).__name__}') from error
    return {kind: {joint.name: lines[joint.name][k] for joint in model.joints
                   if joint.name in lines and lines[joint.name][k] != own[kind][joint.v.start]}
            for k, kind in enumerate(FRICTION)}
