"""What the thesis prints, and nothing else. Its speed tables are beside ours in `formiga bench s3`.

Tran-Dinh Dung David, "Simulation 3D d'un groupe de robots", engineering thesis, Universite Libre de Bruxelles, 2004-2005.
"""

SIGMOID = "Tran-Dinh 2005, section 3, several lights or sounds, and Fig. 3.2"
