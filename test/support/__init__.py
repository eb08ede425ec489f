"""Helpers of the tests: random robots, oracles, tolerances, rigs."""
