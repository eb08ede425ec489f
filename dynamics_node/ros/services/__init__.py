"""What each service answers: plain functions (desk, request, response) -> response, without ROS.

A DynamicsError that a handler raises becomes `success: false` with its text, see services.py.
"""
