"""Derivations to teach with: the steps of a method for one robot, in letters."""

from dalembert.derivation.document import Derivation as Derivation
from dalembert.derivation.document import derive as derive
