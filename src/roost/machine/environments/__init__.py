"""Environments on this host: found, built, measured, cloned, removed. All of it is done as the
person whose they are; nothing here is ever called as root on a path of somebody's."""
