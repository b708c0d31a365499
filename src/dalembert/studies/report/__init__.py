"""One standalone HTML page about a robot: computing, drawing and the page are kept apart."""

from dalembert.studies.report.write import live as live
from dalembert.studies.report.write import study as study
