"""Pages to read and to print: a model, a trajectory, an identification. One HTML file each."""
