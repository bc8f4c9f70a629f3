"""What can be done to a policy at a place: fixes, and changes of form that are proved to change no meaning."""
