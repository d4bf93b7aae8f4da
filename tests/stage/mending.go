package stage

import (
	"context"
	"fmt"

	"github.com/seedmend/seedmend/tests/lab"
)

// MendingUser makes the user that seedmend mends with, by statements that go on
// to the replicas. It may do no more than docs/mend.md asks for.
func MendingUser(ctx context.Context, primary *lab.MariaDB, password string) error {
	for _, statement := range []string{
		"CREATE USER seedmend@'%' IDENTIFIED BY '" + password + "'",
		"GRANT BINLOG MONITOR, REPLICA MONITOR, REPLICATION SLAVE ADMIN ON *.* TO seedmend@'%'",
		"GRANT SELECT ON mysql.global_priv TO seedmend@'%'",
	} {
		if _, err := primary.DB().ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make the user that mends: %w", err)
		}
	}
	return nil
}
