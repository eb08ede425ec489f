"""Turn a robot description into the frozen tree model that every algorithm reads.

urdf_text (checked text) -> read_urdf (records) -> build (lump fixed links, number joints) -> Model
links (a description in Python) -> records; screw_axes, denavit_hartenberg set its geometry
read_mjcf (by MuJoCo) -> links
Model -> model_record (records) -> write_urdf (text)
"""
