package stage

// LogFile is where its output goes.
func (p *Process) LogFile() string { return p.log.Name() }
