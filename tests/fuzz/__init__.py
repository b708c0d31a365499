"""Fuzzers: see run.py."""
