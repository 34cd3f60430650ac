"""Whether printed hours of pretraining are possible: its operations against the peak of the GPUs."""
