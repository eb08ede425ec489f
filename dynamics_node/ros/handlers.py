"""What each service answers: plain functions (robot, response) -> response, testable without ROS.

`robot` is the Robot the node holds, or the reason (a string) why it holds none.
"""


def model_report(robot, response):
    """Fill a ModelReport response."""
    if isinstance(robot, str):
        response.success, response.message = False, robot
        return response
    report = robot.report()
    response.success = True
    response.robot, response.report = report.name, str(report)
    response.total_mass = report.total_mass
    response.joint_names = list(robot.joint_names)
    response.frame_names = list(robot.frame_names)
    response.findings = [f'{found.level}: {found.where}: {found.text}'
                         for found in report.findings]
    return response
