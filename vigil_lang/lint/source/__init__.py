"""Rules that compare statements with the sentences they cite; imported only if a statement cites one."""
