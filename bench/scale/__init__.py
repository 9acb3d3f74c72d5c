"""Scale on paper: what each step costs, as a formula of what it has to do; and a lake whose logs are a year long."""
