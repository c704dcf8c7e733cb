"""What the thesis prints, and nothing else. Its speed tables are beside ours in `formiga bench s3`.

Tran-Dinh Dung David, "Simulation 3D d'un groupe de robots", engineering thesis, Universite Libre de Bruxelles, 2004-2005.
"""

from formiga.studies.harness import Published

SIGMOID = Published(
    where="Tran-Dinh 2005, several lights or sounds: the sum x of intensity / distance^2, then y = 2 / (1 + exp(-x)) - 1",
    values={1: 0.4621, 2: 0.7616, 4: 0.9640},
    tolerance=1e-4,
)
