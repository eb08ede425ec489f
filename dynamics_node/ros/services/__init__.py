"""Handlers of the services: functions (node_state, request, response) -> response.

A DynamicsError of a handler becomes a reply with success: false and its text, see table.py.
"""
