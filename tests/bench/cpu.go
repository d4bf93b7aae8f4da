package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cpu is the CPU time that processes have used, in seconds. Where there is no
// /proc all of it is empty.
type cpu map[string]float64

// ticks a second of /proc, which Linux gives to programs as 100 everywhere.
const ticks = 100

func (b *bench) times() cpu {
	pids := map[string]int{
		"temporal": b.stage.Temporal.PID(), "kube-apiserver": b.stage.Kube.PID(), "etcd": b.stage.Kube.Etcd.PID(),
		"mariadb": b.server.PID(), "mariadb (plain)": b.plain.PID(), "bench": os.Getpid(),
	}
	if b.process != nil {
		pids["seedmend"] = b.process.PID()
	}
	out := cpu{}
	for name, pid := range pids {
		// The name in brackets may hold anything; the fields after it do not.
		_, fields, found := strings.Cut(proc(strconv.Itoa(pid), "stat"), ") ")
		if f := strings.Fields(fields); found && len(f) > 12 {
			out[name] = (number(f[11]) + number(f[12])) / ticks
		}
	}
	return out
}

// since leaves out nothing: a process that was not there before began at 0.
func (c cpu) since(before cpu) cpu {
	out := cpu{}
	for name, v := range c {
		if v < before[name] { // a new process of that name
			before[name] = 0
		}
		out[name] = v - before[name]
	}
	return out
}

// usage is what a phase took of the machine.
type usage struct {
	CPU    map[string]float64 // milliseconds a request, by process
	Busy   float64            // share of the machine that was busy, 0 to 1
	Others float64            // share that went to processes that are not the bench's
}

func used(before, after meters, requests int) usage {
	u := usage{CPU: map[string]float64{}}
	ours := 0.0
	for name, v := range after.cpu.since(before.cpu) {
		u.CPU[name] = v * 1000 / float64(requests)
		ours += v
	}
	if total, busy := after.machine.since(before.machine); total > 0 {
		u.Busy, u.Others = busy/total, max(0, busy-ours)/total
	}
	return u
}

// machine is all CPU time and the busy part of it.
type machine struct{ total, busy float64 }

func machineTimes() machine {
	line, _, _ := strings.Cut(proc("stat"), "\n")
	var m machine
	for i, f := range strings.Fields(line) {
		if i == 0 || i > 8 { // the name; guests are in user time already
			continue
		}
		m.total += number(f) / ticks
		if i != 4 && i != 5 { // idle and iowait
			m.busy += number(f) / ticks
		}
	}
	return m
}

func (m machine) since(before machine) (total, busy float64) {
	return m.total - before.total, m.busy - before.busy
}

// rss is the resident memory of a process in MiB.
func rss(pid int) float64 {
	_, after, _ := strings.Cut(proc(strconv.Itoa(pid), "status"), "VmRSS:")
	line, _, _ := strings.Cut(after, "kB")
	return number(strings.TrimSpace(line)) / 1024
}

// load is the load average over one minute.
func load() string {
	one, _, found := strings.Cut(proc("loadavg"), " ")
	if !found {
		return "unknown"
	}
	return one
}

func proc(path ...string) string {
	data, err := os.ReadFile(filepath.Join(append([]string{"/proc"}, path...)...))
	if err != nil {
		return ""
	}
	return string(data)
}

func number(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return n
}
