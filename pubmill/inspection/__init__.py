"""What is at hand, and whether it is right: the data check and the doctor. Nothing here makes results."""
