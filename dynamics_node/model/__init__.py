"""From a URDF text to the frozen tree model that every algorithm reads.

urdf_text (a safe text) -> read_urdf (records) -> build (lump, number, freeze) -> Model
"""
