"""The shared place of data sets on this machine: taken in, read, removed."""
