"""Parameters of the node, each declared once: type, default, range, meaning."""
