"""Counts the checks of a script and prints those that fail."""


class Checks:
    def __init__(self, path=None):
        self.path = path
        self.passed = self.failed = 0

    def same(self, what, got, want):
        if got == want:
            self.passed += 1
        else:
            self.failed += 1
            print(f'{what}:\n  want {want!r}\n  got  {got!r}'[:2000])

    def need(self, what, holds):
        self.same(what, bool(holds), True)
