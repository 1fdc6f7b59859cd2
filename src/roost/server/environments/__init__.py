"""Environments that people shared with the team, kept by the server in files of its own: what is in
them is content by hash, so nobody's later change, and nobody else's upload, can alter one."""
