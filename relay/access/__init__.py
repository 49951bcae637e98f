"""Who may do what: access tokens and what they open, sign-ins of browsers, and the audit log of operators' actions."""
