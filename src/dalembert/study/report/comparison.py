"""The table of all formulations on this robot."""

from html import escape

from dalembert.robot import Robot
from dalembert.study.report.figures import Section, table_html

TITLE = "All formulations compared"


def comparison(robot: Robot) -> Section:
    """What da.compare finds."""
    if not robot.n:
        return Section("comparison", TITLE, "<p>Without joints there is nothing to compute.</p>")
    from dalembert.quantities.table import methods

    rows = []
    for method in methods("inverse_dynamics"):
        own, general = (robot.operation_count("inverse_dynamics", method, customized=c) for c in (True, False))
        rows.append([escape(method), str(own.mul), str(own.add), str(general.mul), str(general.add)])
    return Section("comparison", TITLE, table_html(["method", "mul", "add", "general mul", "add"], rows, caption="Inverse dynamics"))
