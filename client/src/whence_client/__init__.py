"""What of Whence runs inside other people's processes: sending events, and capture in Spark.

It needs nothing but Python 3.9 and its standard library, and never breaks or delays the job that it runs in.
"""
