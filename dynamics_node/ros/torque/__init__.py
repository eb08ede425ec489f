"""The torque process: from the measured state to a torque on a topic; external torques.

In the serving process: supervisor, process, watchdog_process. In the torque process: process_main,
torque_node, topics, pipeline, external_torque, watched_loop, realtime, huge_pages. In the watchdog
process: watchdog_main, watchdog, realtime. Between them: link, records, last_torque.
"""
