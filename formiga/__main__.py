"""`python -m formiga` is `formiga`."""

from formiga.cli import main

main()
