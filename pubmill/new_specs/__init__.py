"""Writers of specs for the user's own datasets, models and tables (`pubmill new`)."""
