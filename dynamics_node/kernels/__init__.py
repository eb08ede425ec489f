"""The kernels of a robot: one KernelSpec per quantity; how a Model becomes symbols."""
