"""What `spark-submit` is given to capture logged queries: `spark-submit [--master …] sql_log.py TABLE --format … …`."""

import sys

from whence.derive.sql_log.__main__ import main

sys.exit(main())
