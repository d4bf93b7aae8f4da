// Command deps gets every part that tests, demo and benchmark need: `make deps`.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/seedmend/seedmend/tests/parts"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, part := range parts.All {
		got := false
		getter := parts.Getter{Progress: func(line string) {
			got = true
			fmt.Println(line)
		}}
		path, err := getter.Path(ctx, part)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if !got {
			fmt.Printf("%s: ok (%s)\n", part.Name, path)
		}
	}
}
