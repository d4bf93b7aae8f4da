// Package story is what "seedmend dev" shows: real servers on this machine, and
// on them every verdict that a seed can come to, and a crash in the middle of a
// creation. Each outcome is checked in the cluster, in Temporal and on the
// database servers, and told in words.
package story
