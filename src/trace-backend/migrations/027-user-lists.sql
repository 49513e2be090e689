-- Lists of users by their state and role, in the order of their ids.
CREATE INDEX users_by_status ON users (status, id);
DROP INDEX users_by_role;
CREATE INDEX users_by_role ON users (role, id);
