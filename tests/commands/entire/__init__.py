"""The checks of entire_conformance.py, a module for each subject, and the fixture that they share."""
