-- This script runs after the rows are inserted. Building an index once is cheaper than updating it for each of 100,000 rows. A generated
-- catalogue is not a change, so the triggers are created now.
CREATE UNIQUE INDEX book_isbn ON book (isbn);
CREATE INDEX book_author ON book (author_id);
CREATE INDEX book_title ON book (lower(title) text_pattern_ops, id);

CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON book FOR EACH ROW EXECUTE FUNCTION tell_of_change('book');
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON author FOR EACH ROW EXECUTE FUNCTION tell_of_change('author');
CREATE TRIGGER tell_all AFTER TRUNCATE ON book FOR EACH STATEMENT EXECUTE FUNCTION tell_of_change();
CREATE TRIGGER tell_all AFTER TRUNCATE ON author FOR EACH STATEMENT EXECUTE FUNCTION tell_of_change();

SELECT setval(pg_get_serial_sequence('author', 'id'), (SELECT max(id) FROM author));
SELECT setval(pg_get_serial_sequence('book', 'id'), (SELECT max(id) FROM book));
