"""What entire.py looks at, a module a subject, beside the fixture that they all work on."""
