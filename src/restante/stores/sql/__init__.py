"""The SQL home: one file (or, through the same named statements, one server) for any number of mailboxes."""
