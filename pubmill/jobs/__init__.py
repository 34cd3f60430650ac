"""What jobs do: one module for each program of a rule, with its function `main` (`pubmill.job`)."""
