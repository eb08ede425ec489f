"""Turn a URDF text into the frozen tree model that every algorithm reads.

urdf_text (checked text) -> read_urdf (records) -> build (lump fixed links, number joints) -> Model
"""
