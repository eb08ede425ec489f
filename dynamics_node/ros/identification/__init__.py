"""The action `~/identify`, and the process in which identification runs."""
