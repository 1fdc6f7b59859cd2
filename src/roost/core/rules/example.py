"""The rules file that an installation starts with: every key with its default, as comments.

It loads to exactly `Rules()`, with the comments and without them; tests hold that.
"""

EXAMPLE = """\
# How this team shares its GPUs. Every line that is commented out shows the default;
# `roost rules check` says whether the file is right, `roost rules show` what is in force.

# time_zone = "UTC"               # in which times are read and shown
# operators = ["@sudo", "@wheel"] # accounts, and @name for a Linux group; root always is one
# default_group = "default"       # charged for people who are in none of the groups below
# default_class = "regular"       # of a job that names none
# shared_gpus = []                # indices or UUIDs of GPUs that jobs share by memory
# enforcement = "observe"         # "warn" and "strict" may be written, but only look, too, as yet
# stray_gpu_use = "warn"          # a job that uses a GPU it was not given: "ignore", "warn", "stop"
# max_array = 10000               # the most jobs in one array
# sample = "1s"                   # how often the GPUs are looked at

# Groups that are charged. The share weighs fair share: 2 is owed twice as much as 1.
# [groups.vision]
# members = ["alice", "@vision"]
# share = 1

# The three priority classes, in the order in which they are served.
# preempts: from whom it may take GPUs when none is free. min_run: a job has run at least
# this long before its GPUs may be taken. grace: from the signal to the end of a job.
# [classes.urgent]
# preempts = ["background"]
# min_run = "0s"
# grace = "1m"
# [classes.regular]
# preempts = []
# min_run = "10m"
# grace = "1m"
# [classes.background]
# preempts = []
# min_run = "1m"
# grace = "1m"

# Limits; all that fit a job are applied, none is set. Keys of each: max_gpus and max_jobs at
# once, max_queued waiting, max_walltime of one job.
# [limits.per_user]               # every user
# max_gpus = 4
# [limits.urgent]                 # a class as a whole; also regular, background
# max_gpus = 4
# [limits.urgent.per_user]        # every user within that class
# max_gpus = 2
# [limits.groups.vision]          # a group; [limits.groups.vision.regular] within one class
# max_gpus = 6
# [limits.users.alice]            # one person
# max_walltime = "2d"

# Who used less than their share goes first. Past use counts half after each half_life.
# weight: the most that use may count; age_weight_per_day: what each day of waiting counts.
# [fair_share]
# half_life = "7d"
# weight = 1
# age_weight_per_day = 0.1

# Processes that are shown but do not count as somebody's use of a GPU.
# [[ignore]]
# command = "Xorg"
# below = "200M"
"""
