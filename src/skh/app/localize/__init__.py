"""``skh localize``: where a robot was, from its log and a map."""
