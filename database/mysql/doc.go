// Package mysql is the engine for MySQL and MariaDB.
//
// A tenant's database is made in an order in which every cut can be told from
// somebody else's work: the claim first, then database, user, grants, a proof,
// and the claim set ready. See Engine.Create.
//
// A replica whose credentials have diverged is mended with STOP, CHANGE and START,
// after a look at what that would lose. See Engine.Repair.
//
// Errors are *api.Failure values, chosen by the server's error code and never by
// its text, or context errors. None holds a credential or a statement.
package mysql
