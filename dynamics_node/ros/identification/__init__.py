"""Serve the action `~/identify`; run identification in a separate process."""
