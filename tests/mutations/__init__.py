"""Mutation check: does a test fail when one operator, constant or condition of pubmill is changed?

    python -m tests.mutations --count 200                       # a random sample of all rooms
    python -m tests.mutations --count 40 --room corpus --seed 7
    python -m tests.mutations --only pubmill/corpus/filters.py:31:2    # one mutation: look at a survivor

`points` lists the places that can be changed, `trials` runs the test files of the changed module's room that
load the module: first those named after it, then those importing it, in other rooms too, and at last the
others. A mutation that fails no test is a survivor: either a test is missing, or the change has no effect
that anybody could see.

A process that has imported the third-party packages forks for each mutation, in a copy of the checkout, so
that a mutation costs about as much as the tests that it needs. Test files that fail without a mutation are
left out. The time of the others sets the limit after which a mutation counts as caught, as it is endless.
"""
