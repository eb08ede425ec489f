"""The inspector, a page in the browser that shows why a joint carries its torque.

torque_parts, figures        state and settings -> the numbers on the page
stacked_bars, heat_map, ...  numbers -> SVG
shapes, meshes               URDF -> what is drawn of each link
scene, page                  the page itself, by viser (an optional dependency)
"""
