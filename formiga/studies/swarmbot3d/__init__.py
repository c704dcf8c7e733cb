"""S3, swarm-bots in three dimensions: a simulator with real forces [Tran-Dinh 2005]"""
