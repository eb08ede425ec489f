"""Estimate external torques and wrenches from a balance of generalised momentum; detect contact."""

from dynamics_node.observer.contact import ContactFlag
from dynamics_node.observer.effort_meaning import meaning_of
from dynamics_node.observer.momentum import MomentumObserver, external_torques
from dynamics_node.observer.wrench import wrench_at

__all__ = ['ContactFlag', 'MomentumObserver', 'external_torques', 'meaning_of', 'wrench_at']
