"""The kernels of a robot: one KernelSpec per question; how a Model becomes symbols."""
