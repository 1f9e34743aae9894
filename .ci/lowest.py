"""Print pip constraints that pin every dependency of pyproject.toml to its lower bound."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
requirements = [*project["dependencies"], *project["optional-dependencies"]["test"]]
for requirement in requirements:
    name, bound = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement).groups()
    print(f"{name}=={bound}")
print("pyparsing<3.3")  # newer ones warn about names that matplotlib 3.8 calls
