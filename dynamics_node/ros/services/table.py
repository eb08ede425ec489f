"""Which services are there, and how is any of them answered? A table, and one function."""

import traceback

from dynamics_node import srv
from dynamics_node.errors import DynamicsError
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


class ServiceRunner:
    """Answers requests from a desk; what cannot be answered is said, and nobody falls over it.

    :ivar active: whether the node is; an inactive one refuses.
    :ivar answered, refused: number of requests so far.
    """

    def __init__(self, desk, log_error):
        self.active = False
        self.answered = self.refused = 0
        self._desk, self._log_error = desk, log_error

    def check_active(self):
        """Refuse while the node is inactive."""
        if not self.active:
            raise DynamicsError('the node is inactive: ros2 lifecycle set <node> activate')

    def serves(self, handler):
        """Return the callback of a service: (request, response) -> response, or a Later."""
        desk = self._desk

        def answer(request, response):
            try:
                if not self.active:
                    self.check_active()
                response = handler(desk, request, response)
                self.answered += 1
                return response
            except DynamicsError as error:
                return self._refuse(response, str(error))
            except Exception as error:  # a fault of ours must not take the node down
                return self._fail(response, handler.__name__, error)
        return answer

    def finish(self, later, news):
        """Return the response of a Later, with the last News of its work."""
        try:
            if news.kind == 'refused':
                raise DynamicsError(*news.what)
            if news.kind == 'done':
                return later.fill(*news.what)
            self._log_error('\n'.join(['the workshop failed, please report this:', *news.what]))
            raise DynamicsError('internal error; see the log of the node')
        except DynamicsError as error:
            return self._refuse(later.response, str(error))
        except Exception as error:
            return self._fail(later.response, 'the last step of the answer', error)

    def _fail(self, response, what, error):
        self._log_error(f'{what} failed, please report this:\n{traceback.format_exc()}')
        return self._refuse(response, f'internal error: {error!r}; see the log of the node')

    def _refuse(self, response, message):
        self.refused += 1
        refusal = type(response)()  # nothing of what was filled in so far
        refusal.success, refusal.message = False, message
        return refusal
