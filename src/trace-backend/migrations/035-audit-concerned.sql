-- What concerns a user without being about the account, such as a membership of a company.
CREATE INDEX audit_by_concerned ON audit ((details ->> 'userId'), id) WHERE (details ->> 'userId') IS NOT NULL;
