"""List the services of the node: name -> (type, handler)."""

from dynamics_node import srv
from dynamics_node.ros.services import (
    batch,
    constrained,
    contact,
    derivatives,
    dynamics,
    identify,
    inverse_kinematics,
    kinematics,
    operational_space,
    report,
    settings,
    task_control,
    terms,
    trajectory,
)

SERVICES = {
    'inverse_dynamics': (srv.InverseDynamics, dynamics.inverse_dynamics),
    'forward_dynamics': (srv.ForwardDynamics, dynamics.forward_dynamics),
    'hybrid_dynamics': (srv.HybridDynamics, dynamics.hybrid_dynamics),
    'dynamics_terms': (srv.DynamicsTerms, terms.dynamics_terms),
    'kinematics': (srv.Kinematics, kinematics.kinematics),
    'batch_dynamics': (srv.BatchDynamics, batch.batch_dynamics),
    'dynamics_derivatives': (srv.DynamicsDerivatives, derivatives.dynamics_derivatives),
    'linearization': (srv.Linearization, derivatives.linearization),
    'constrained_dynamics': (srv.ConstrainedDynamics, constrained.constrained_dynamics),
    'contact_and_impact': (srv.ContactAndImpact, contact.contact_and_impact),
    'operational_space': (srv.OperationalSpace, operational_space.operational_space),
    'inverse_kinematics': (srv.InverseKinematics, inverse_kinematics.inverse_kinematics),
    'task_control': (srv.TaskControl, task_control.task_control),
    'trajectory_torques': (srv.TrajectoryTorques, trajectory.trajectory_torques),
    'set_payload': (srv.SetPayload, settings.set_payload),
    'list_payloads': (srv.ListPayloads, settings.list_payloads),
    'set_gravity': (srv.SetGravity, settings.set_gravity),
    'set_friction': (srv.SetFriction, settings.set_friction),
    'identify_payload': (srv.IdentifyPayload, identify.identify_payload),
    'model_report': (srv.ModelReport, report.model_report),
    'self_test': (srv.SelfTest, report.self_test),
}
