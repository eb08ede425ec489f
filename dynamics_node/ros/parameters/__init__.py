"""Every parameter of the node, declared once: type, default, range, meaning."""
