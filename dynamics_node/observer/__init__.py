"""Estimate external torques without a force sensor. Pure: the time is given."""
