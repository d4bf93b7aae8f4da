// Command compose loads a Compose file as Docker Compose would, and checks what
// Compose itself lets pass.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/distribution/reference"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: compose FILE")
		os.Exit(2)
	}
	problems, err := check(context.Background(), os.Args[1])
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// check loads the file without the caller's environment, so that the defaults
// in it are what is looked at. The loader itself refuses unknown keys, and
// services, volumes and configs that are used and not declared.
func check(ctx context.Context, file string) ([]string, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithResolvedPaths(true))
	if err != nil {
		return nil, err
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, name := range project.ServiceNames() {
		for _, p := range checkService(project, project.Services[name]) {
			problems = append(problems, name+": "+p)
		}
	}
	return problems, nil
}

func checkService(project *types.Project, s types.ServiceConfig) []string {
	var problems []string
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	if s.Build == nil && !pinned(s.Image) {
		say("image %q is not pinned to a version", s.Image)
	}
	if s.Privileged {
		say("runs privileged")
	}
	for _, p := range s.Ports {
		if ip := net.ParseIP(p.HostIP); ip == nil || !ip.IsLoopback() {
			say("port %d is bound to %q, not to loopback", p.Target, p.HostIP)
		}
	}
	for _, v := range s.Volumes {
		switch v.Type {
		case types.VolumeTypeBind:
			if _, err := os.Stat(v.Source); err != nil {
				say("mounts what is not there: %v", err)
			}
		case types.VolumeTypeVolume:
			if v.Source == "" {
				say("the volume at %s has no name", v.Target)
			}
		}
	}
	for dependency, d := range s.DependsOn {
		other, ok := project.Services[dependency]
		switch {
		case !ok:
			say("depends on %s, which is not there", dependency)
		case d.Condition == types.ServiceConditionHealthy && (other.HealthCheck == nil || other.HealthCheck.Disable):
			say("waits for the health of %s, which has no health check", dependency)
		case d.Condition == types.ServiceConditionCompletedSuccessfully && other.Restart != "" && other.Restart != types.RestartPolicyNo:
			say("waits for the end of %s, which is restarted for ever", dependency)
		case d.Condition == types.ServiceConditionStarted:
			say("depends on %s without saying what it waits for", dependency)
		}
	}
	return problems
}

// pinned tells whether an image has a tag that names a version, or a digest.
func pinned(image string) bool {
	ref, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false
	}
	if _, ok := ref.(reference.Digested); ok {
		return true
	}
	tagged, ok := ref.(reference.Tagged)
	return ok && strings.ContainsAny(tagged.Tag(), "0123456789")
}
