package mysql

import (
	"strconv"
	"strings"
)

// gtids is a position of MariaDB's: the last transaction in each domain.
type gtids map[uint64]gtid

type gtid struct{ server, seq uint64 }

// parseGTIDs reads 0-1-7,1-2-9. The empty position is one, too.
func parseGTIDs(s string) (gtids, bool) {
	all := gtids{}
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		parts := strings.Split(word, "-")
		if len(parts) != 3 {
			return nil, false
		}
		var n [3]uint64
		for i, p := range parts {
			var err error
			if n[i], err = strconv.ParseUint(p, 10, 64); err != nil {
				return nil, false
			}
		}
		all[n[0]] = gtid{n[1], n[2]}
	}
	return all, true
}

// has tells whether everything up to other is in g. Sequence numbers of two
// servers are compared only where strict is not asked for: they may overlap
// where somebody wrote to a replica.
func (g gtids) has(other gtids, strict bool) bool {
	for domain, o := range other {
		own, ok := g[domain]
		if !ok || own.seq < o.seq || strict && own.server != o.server {
			return false
		}
	}
	return true
}

// positionHas compares two positions as texts. An empty wanted is not known.
func positionHas(has, wanted string, strict bool) bool {
	g, ok1 := parseGTIDs(has)
	w, ok2 := parseGTIDs(wanted)
	return ok1 && ok2 && len(w) > 0 && g.has(w, strict)
}
