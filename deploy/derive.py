"""What `spark-submit` is given to run the pipeline: `spark-submit [--master …] derive.py --log … --store …`."""

import sys

from whence.derive.__main__ import main

sys.exit(main())
