"""The command `bmin`: bminlib on the command line."""
