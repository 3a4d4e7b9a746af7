"""The SQL home on a PostgreSQL server: the same named statements as on SQLite, for any number of machines.

``database`` runs transactions, ``connecting`` keeps connections, ``dialect`` turns our SQL and values into
PostgreSQL's, ``form`` makes and checks the tables, ``failures`` says in our words what went wrong.
"""

from restante.stores.sql.postgres.database import PostgresDatabase, open_postgres

__all__ = ["PostgresDatabase", "open_postgres"]
