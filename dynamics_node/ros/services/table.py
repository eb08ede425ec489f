"""List the services of the node."""

from typing import Any, NamedTuple

from dynamics_node import srv
from dynamics_node.ros.long_requests import durations
from dynamics_node.ros.services import (
    batch,
    constrained,
    contact,
    derivative_terms,
    derivatives,
    differential_kinematics,
    directional_derivative,
    dynamics,
    identify,
    inverse_kinematics,
    joint_reactions,
    kinematics,
    operational_space,
    report,
    settings,
    task_control,
    terms,
    trajectory,
)
from dynamics_node.ros.services.runner import Handler


class Service(NamedTuple):
    """A service; its name is that of its handler."""

    kind: Any          # class with Request and Response
    handler: Handler
    duration: durations.Estimate | None = None   # None: always short, or it changes the node


SERVICES = {service.handler.__name__: service for service in (
    Service(srv.InverseDynamics, dynamics.inverse_dynamics),
    Service(srv.ForwardDynamics, dynamics.forward_dynamics,
            durations.single_state(durations.FORWARD)),
    Service(srv.HybridDynamics, dynamics.hybrid_dynamics,
            durations.single_state(durations.FORWARD)),
    Service(srv.DynamicsTerms, terms.dynamics_terms, durations.dynamics_terms),
    Service(srv.JointReactions, joint_reactions.joint_reactions, durations.joint_reactions),
    Service(srv.Kinematics, kinematics.kinematics, durations.kinematics),
    Service(srv.BatchDynamics, batch.batch_dynamics, durations.batch_dynamics),
    Service(srv.DynamicsDerivatives, derivatives.dynamics_derivatives,
            durations.dynamics_derivatives),
    Service(srv.DirectionalDerivative, directional_derivative.directional_derivative,
            durations.directional_derivative),
    Service(srv.DerivativeTerms, derivative_terms.derivative_terms, durations.derivative_terms),
    Service(srv.Linearization, derivatives.linearization, durations.linearization),
    Service(srv.ConstrainedDynamics, constrained.constrained_dynamics,
            durations.constrained_dynamics),
    Service(srv.ContactAndImpact, contact.contact_and_impact, durations.constrained_dynamics),
    Service(srv.OperationalSpace, operational_space.operational_space, durations.operational_space),
    Service(srv.InverseKinematics, inverse_kinematics.inverse_kinematics,
            durations.inverse_kinematics),
    Service(srv.DifferentialKinematics, differential_kinematics.differential_kinematics,
            durations.differential_kinematics),
    Service(srv.TaskControl, task_control.task_control),
    Service(srv.TrajectoryTorques, trajectory.trajectory_torques, durations.trajectory_torques),
    Service(srv.SetPayload, settings.set_payload),
    Service(srv.ListPayloads, settings.list_payloads),
    Service(srv.SetGravity, settings.set_gravity),
    Service(srv.SetFriction, settings.set_friction),
    Service(srv.IdentifyPayload, identify.identify_payload),
    Service(srv.ModelReport, report.model_report),
    Service(srv.SelfTest, report.self_test, durations.self_test),
)}
