"""Replay: a trace of jobs run through the scheduler in simulated time, and what came of it.

Pure: files are read and reports written elsewhere; chance comes in as a seeded generator.
"""
