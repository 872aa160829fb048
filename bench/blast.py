"""The blast radius of every node at a million fields and five million column edges: seconds, memory, error.

The error is measured against exact counts of nodes drawn at random, each reached edge by edge; the job itself draws
none.
"""

import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
