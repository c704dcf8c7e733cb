"""10. State -> what people see. It only listens; it never changes the run."""
