package api

//go:generate sh -c "go run ../cmd/seedmend reasons > ../docs/runbook.md"
