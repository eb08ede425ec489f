"""Requests that take long: computed in worker processes, one client after the other.

In the node: durations, long_requests, request_pool, fair_queue, request_worker. Between the two:
request_job. In a worker process: worker_main.
"""
