// Package api holds the names that every part of seedmend shares: workflow
// types and IDs, task queues, search attributes, inputs, results, and the table
// of failures. Other tools rely on these names; changing one is a breaking change.
package api
