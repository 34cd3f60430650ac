"""Mutation check: does a test fail when one operator, constant or condition of pubmill is changed?

    python -m tests.mutations --count 200                       # a random sample of all rooms
    python -m tests.mutations --count 40 --room corpus --seed 7
    python -m tests.mutations --only pubmill/corpus/filters.py:31:2    # one mutation: look at a survivor

`points` lists the places that can be changed; `trials` runs the tests of the changed module in a copy of the
checkout until one fails. A mutation that fails no test is a survivor: either a test is missing, or the change
has no effect that anybody could see. A test that also fails without the mutation does not count.
"""
