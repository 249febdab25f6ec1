def tables(r):
    return ""
