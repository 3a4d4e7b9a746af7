-- What PostgreSQL has beside schema.sql.

-- The form of the schema, in one row.
CREATE TABLE restante_form (version BIGINT NOT NULL);

-- Every commit tells who listens what changed: ["mail", owner, address] or ["session", owner, id], on the channel that
-- is named like the schema. What does not fit into a notice (8,000 bytes) is told as an empty one: look everywhere.
CREATE FUNCTION restante_tell() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    notice TEXT := CASE WHEN TG_TABLE_NAME = 'mailboxes'
        THEN json_build_array('mail', NEW.owner, to_jsonb(NEW) ->> 'address')
        ELSE json_build_array('session', NEW.owner, NEW.id)
    END;
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA, CASE WHEN octet_length(notice) < 7900 THEN notice ELSE '' END);
    RETURN NULL;
END;
$$;

CREATE TRIGGER mailboxes_tell AFTER UPDATE OF event ON mailboxes FOR EACH ROW
WHEN (NEW.event IS DISTINCT FROM OLD.event) EXECUTE FUNCTION restante_tell();

CREATE TRIGGER sessions_tell_new AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION restante_tell();

CREATE TRIGGER sessions_tell AFTER UPDATE OF event ON sessions FOR EACH ROW
WHEN (NEW.event IS DISTINCT FROM OLD.event) EXECUTE FUNCTION restante_tell();

CREATE TRIGGER ended_tell AFTER INSERT OR UPDATE ON ended FOR EACH ROW EXECUTE FUNCTION restante_tell();
