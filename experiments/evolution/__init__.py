"""Runs that improve prompts: what may be seen, how a version is measured, when an edit is kept, what is recorded."""
