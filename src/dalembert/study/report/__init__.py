"""One standalone HTML page that tells everything about a robot: computing, drawing and the page are kept apart."""

from dalembert.study.report.write import study as study
