"""Print pip constraints that pin dependencies of pyproject.toml to their lower bounds.

Without arguments those of the package and its tests, else those of the extras that are named.
"""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
requirements = [*project["dependencies"], *extras["test"]]
if sys.argv[1:]:
    requirements = [line for extra in sys.argv[1:] for line in extras[extra]]
for requirement in requirements:
    name, bound = re.fullmatch(r"([\w.-]+)(?:\[\w+\])?>=([\w.]+)|bminlib.*", requirement).groups()
    if name:
        print(f"{name}=={bound}")
print("pyparsing<3.3")  # newer ones warn about names that matplotlib 3.8 calls
