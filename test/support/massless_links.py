"""URDF texts of robots that have a link without mass."""

MASSLESS_TIP = """
<robot name="r"><link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial></link><link name="tip"/>
<joint name="ja" type="continuous"><parent link="base"/><child link="a"/></joint>
<joint name="jt" type="continuous"><parent link="a"/><child link="tip"/>
<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0.3 0.4 0.5"/>{mimic}</joint></robot>"""

MASSLESS = """<robot name="ghost"><link name="base"/><link name="arm"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="ghost"/>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="wrist" type="continuous"><parent link="arm"/><child link="ghost"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>"""
