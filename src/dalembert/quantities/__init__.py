"""What users ask for, computed from a formulation."""
