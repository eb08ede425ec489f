"""Tell whether a node declares a parameter itself, or a client sets one.

rclpy calls the same callback for both, and declares the QoS overrides of a topic with the topic.
"""

from __future__ import annotations

from typing import Any

from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter


class DeclaringNode(LifecycleNode):
    """A lifecycle node.

    :ivar declaring: whether the node is declaring a parameter.
    """

    declaring = False

    def declare_parameter(self, *arguments: Any, **options: Any) -> Parameter:
        """Declare a parameter; rclpy calls this for its own too."""
        self.declaring = True
        try:
            return super().declare_parameter(*arguments, **options)
        finally:
            self.declaring = False
