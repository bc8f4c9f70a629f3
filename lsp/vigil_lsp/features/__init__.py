"""The methods of the protocol, one file each."""
