"""Looks at the posture of this machine, changes nothing: facts for `roost.core.audit`.

Runs in a process of its own (`python -m roost.machine.audit`), each check in a child of that, so
that a disk that hangs or a name service that does not answer costs one check and not the agent.
"""
