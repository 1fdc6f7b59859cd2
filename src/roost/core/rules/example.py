"""The rules file that an installation starts with: every key with its default, as comments.

It loads to exactly `Rules()`, with the comments and without them; tests hold that.
"""

EXAMPLE = """\
# How this team shares its GPUs. Every line that is commented out shows the default;
# `roost rules check` says whether the file is right, `roost rules show` what is in force.

# time_zone = "UTC"               # in which times are read and shown
# operators = ["@sudo", "@wheel"] # accounts, and @name for a Linux group; root always is one
# viewers = []                    # who may look and change nothing, named in the same way
# default_group = "default"       # charged for people who are in none of the groups below
# default_class = "regular"       # of a job that names none
# shared_gpus = []                # indices or UUIDs of GPUs that jobs share by memory
# enforcement = "observe"         # "warn" and "strict" may be written, but only look, too, as yet
# stray_gpu_use = "warn"          # a job that uses a GPU it was not given: "ignore", "warn", "stop"
# max_array = 10000               # the most jobs in one array
# sample = "1s"                   # how often the GPUs are looked at

# Days that are free and days that are worked although at a weekend: dates, or ranges of them.
# [days]
# holidays = []                   # as ["2026-12-25", "2026-10-01..2026-10-07"]
# working_days = []               # as ["2026-10-10"]

# Periods: times with a name, for windows and limits; by the clock on the wall in time_zone.
# Days: mon to sun ("mon-fri", "sat,sun"), daily, workdays, freedays, holidays, or dates.
# [periods]
# night = ["20:00-08:00", "freedays"]

# Groups that are charged. The share weighs fair share: 2 is owed twice as much as 1. With
# parent, shares divide what that group is owed.
# [groups.vision]
# members = ["alice", "@vision"]
# share = 1
# leads = ["bob"]                 # who may also cancel, hold and requeue the group's jobs
# [groups.detection]
# parent = "vision"

# The three priority classes, in the order in which they are served.
# preempts: from whom it may take GPUs when none is free. min_run: a job has run at least
# this long before its GPUs may be taken. grace: from the signal to the end of a job.
# budget: GPU hours of each person in a calendar month. give_way: how a job leaves its GPUs,
# "requeue", "suspend" or "checkpoint"; suspend_memory: what it may keep of each GPU when it
# is suspended. idle_for: only on GPUs that nobody used for so long.
# [classes.urgent]
# preempts = ["background"]
# min_run = "0s"
# grace = "1m"
# require_reason = false          # true: roost run --reason "…" is needed, and is in the audit log
# give_way = "requeue"
# idle_for = "0s"
# budget = "40h"                  # not set: no limit
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
# [limits.during.night.per_user]  # besides, while a period is open; all the tables above
# max_gpus = 8

# Windows: jobs longer than jobs_over, and those without --time, start only while one of the
# periods is open. at_close: "finish" lets them run, "warn" also tells them before, "end" lets
# them start only if they fit, and ends at the close those that said no --time.
# [windows.long]
# jobs_over = "4h"
# open = ["night"]
# exempt = []                     # classes that may start at any time
# classes = []                    # only these classes; none: all
# groups = []                     # only these groups and those below them; none: all
# at_close = "finish"
# notice = "30m"

# Who used less than their share goes first. Past use counts half after each half_life.
# weight: the most that use may count; age_weight_per_day: what each day of waiting counts.
# [fair_share]
# half_life = "7d"
# weight = 1
# age_weight_per_day = 0.1
# charge = "held"                 # "busy": only the hours in which the GPU computed

# GPUs that are held and do nothing: their holder is warned, then they are taken back. Not built
# yet: read and checked only.
# [idle_reclaim]
# enabled = false
# after = "30m"
# below_percent = 5
# warn = "10m"                    # from the warning to the end
# exempt_users = []
# exempt_groups = []
# exempt_classes = []

# What may be booked (roost book), and when a booking that nobody uses is given up.
# [bookings]
# horizon = "14d"                 # how far ahead
# longest = "3d"
# no_show = "15m"                 # unused so long after its start it is given up; "0s": never
# reminder = "15m"                # before its start and before its end
# background_notice = "10m"       # background jobs on booked GPUs are told so long before
# occupied = "leave"              # processes by hand in a booking's way, once told: "leave", "end"
# maintenance_notice = "1d"       # people are told of a maintenance so long before
# repeat = "all"                  # who may repeat a booking: "all", "operators", "nobody"
# repeat_horizon = "26w"          # how far ahead a series may reach
# per_user_gpu_hours = 96         # booked ahead at once; not set: no limit
# [bookings.aliases]              # names on a spreadsheet (roost book import), to accounts
# "张三" = "zhangsan"
# [bookings.slots]                # what its words for times of the day mean, where not as usual
# "上午" = "08:00-12:00"

# Which jobs people are told of (roost notify: what of it goes where).
# [notices]
# long_wait = "1h"                # started after waiting so long; "0s": never
# long_run = "10m"                # ended well after running so long; "0s": each
# time_limit = "15m"              # told so long before its walltime is over; "0s": never

# [audit]                         # roost audit: shared folders to search, findings to live with
# places = ["/data", "/scratch", "/shared", "/srv"]
# accept = [{ check = "root-groups", subject = "docker:ann", reason = "builds the images" }]

# Where people keep environments (roost env): below the home, or as "/scratch/{user}/envs".
# [environments]                  # and how much of them one person may share
# directory = "~/.local/share/roost/envs"
# share_limit = "100G"

# [data]                          # data sets and models kept once for all (roost data)
# path = "/srv/roost/data"        # where they lie; root's, for everybody to read
# add = "all"                     # who may add one: "all", "operators"

# Signing in to the page by OpenID Connect, besides PAM. Without this table: PAM alone.
# [oidc]
# issuer = "https://login.example.org/realms/lab"
# client_id = "roost"
# secret_file = "/etc/roost/oidc-secret" # readable by the account roost, and not by everybody
# claim = "preferred_username"    # or "email", which counts only where it is verified
# exact = false                   # true: the claim is the account's name (not with "email")
# hosts = []                      # other hosts that the provider's own addresses may lead to
# name = ""                       # on the button of the page; not set: the issuer's host
# [oidc.users]                    # values of the claim, to accounts
# "alice@example.org" = "alice"

# Processes that are shown but do not count as somebody's use of a GPU.
# [[ignore]]
# command = "Xorg"
# below = "200M"
"""
