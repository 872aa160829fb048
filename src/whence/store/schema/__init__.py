"""The tables: columns with their merge rules, packed columns, and statements' array parameters. No connection is
opened here.
"""
