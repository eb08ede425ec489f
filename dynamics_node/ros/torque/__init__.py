"""Compute torques and external torques in a process of their own, and watch that process.

Begin with pipeline.py: it turns a measured state into a permitted torque. The serving process runs
supervisor, process, watchdog_process and joint_state_source; the torque process starts in
process_main and torque_node; the watchdog process starts in watchdog_main. They communicate by
ros/process_link, records, last_torque and ros/state/joint_state_ring.
"""
