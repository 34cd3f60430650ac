"""Proofs of studies: text-free archives with the program that recomputes every number in them."""
