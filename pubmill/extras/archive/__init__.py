"""The archive of a study, an RO-Crate, and its verification."""
