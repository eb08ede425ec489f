"""Describe a small robot: a torso that turns, an arm and a hand."""

TORSO = 8.44    # [kg]
UPPER_BODY = f"""<robot name="upper_body"><link name="base"/>
<link name="torso"><inertial><origin xyz="0.05 0 0.2"/><mass value="{TORSO}"/>
  <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.09" iyz="0" izz="0.05"/></inertial></link>
<link name="arm"><inertial><origin xyz="0 0 -0.2"/><mass value="2"/>
  <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.003"/></inertial></link>
<link name="hand"><inertial><origin xyz="0 0.01 -0.1"/><mass value="1"/>
  <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.001"/></inertial></link>
<joint name="waist" type="continuous"><parent link="base"/><child link="torso"/>
  <axis xyz="0 0 1"/></joint>
<joint name="shoulder" type="continuous"><parent link="torso"/><child link="arm"/>
  <origin xyz="0 0.2 0.4"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="arm"/><child link="hand"/>
  <origin xyz="0 0 -0.4"/><axis xyz="1 0 0"/></joint></robot>"""
