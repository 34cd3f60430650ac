"""Modules of `verify.py`, which `pubmill.extras.proof.assembling` joins into one file.

Standard library and numpy only, for Python 3.9 and later, and nothing of pubmill: the verifier must be
independent of the code that it checks. Names are unique across modules, because they share one namespace.
"""
