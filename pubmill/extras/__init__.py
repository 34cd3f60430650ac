"""What stands beside the pipeline: one folder for each extra. Nothing outside this folder imports one."""
