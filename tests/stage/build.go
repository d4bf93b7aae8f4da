package stage

import (
	"context"
	"fmt"
	"os/exec"
)

// Build compiles seedmend to a path, with the race detector where asked.
func Build(ctx context.Context, path string, race bool) error {
	args := []string{"build", "-o", path}
	if race {
		args = append(args, "-race")
	}
	out, err := exec.CommandContext(ctx, "go", append(args, "github.com/seedmend/seedmend/cmd/seedmend")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build seedmend: %w\n%s", err, out)
	}
	return nil
}
