"""The RO-Crate of a study: its workflow, configuration, results and sources."""
