"""What a coding agent calls at points of its own choice: before a prompt, and when a turn or a session ends.

A hook never stops its user. Whatever fails, it prints nothing, ends with 0 and writes one line to a log
(`hook_log`). It is told what happened as JSON on standard input.
"""
