"""Mutation check: does a test fail when one operator, constant or condition of pubmill is changed?

    python -m tests.mutations --count 200                       # a random sample of all rooms
    python -m tests.mutations --count 40 --room corpus --seed 7
    python -m tests.mutations --only pubmill/corpus/filters.py:31:2    # one mutation: look at a survivor

`points` lists the places that can be changed, `selection` the test files of the changed module's room that
reach the module: first those named after it, then those importing it, in other rooms too, and at last the
others. `trials` runs them until a test fails. A mutation that fails no test is a survivor: either a test is
missing, or the change has no effect that anybody could see.

A process that has imported the third-party packages forks for each run, in a copy of the checkout, so that a
mutation costs about as much as the tests that it needs. Nothing runs before a mutation needs it: a test that
fails runs again without the mutation, and counts only if it then passes. A test that takes minutes counts as
endless, which is a failure. In each group the files that were fast so far come first.
"""
