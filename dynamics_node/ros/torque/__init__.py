"""The torque process: from the measured state to a torque on a topic; external torques.

In the serving process: supervisor, process. Between the two: link, records. In the torque process:
process_main, torque_node, topics, pipeline, external_torque, realtime.
"""
