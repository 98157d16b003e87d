"""`tilework bench`: models and single operators measured beside other engines, in turns, in one run.

`measure` puts a measurement together; every engine runs in a process of its own (`subject`), and so does what has a
peak memory or a first time (`tasks`).
"""
