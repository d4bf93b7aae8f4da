package mend

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The protocol's commands that carry a replica's server ID.
const (
	commandBinlogDump    = 0x12 // position 4, flags 2, server ID 4
	commandRegisterSlave = 0x15 // server ID 4
)

// relabel stands before a primary and gives whoever comes through it a server ID
// of its own: a primary serves one connection of each ID, and so it takes many
// replicas, or many primaries, to see many channels. It returns its port.
func relabel(t *testing.T, primary string, id uint32) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	var conns []net.Conn
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			c.Close()
		}
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", primary)
			if err != nil {
				client.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, client, server)
			mu.Unlock()
			go func() { _, _ = io.Copy(client, server); client.Close() }()
			go func() { relabelPackets(server, client, id); server.Close() }()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func relabelPackets(server io.Writer, client io.Reader, id uint32) {
	for {
		var header [4]byte
		if _, err := io.ReadFull(client, header[:]); err != nil {
			return
		}
		length := int(binary.LittleEndian.Uint32(header[:]) & 0xffffff)
		packet := make([]byte, 4+length)
		copy(packet, header[:])
		if _, err := io.ReadFull(client, packet[4:]); err != nil {
			return
		}
		// A command begins a sequence, number 0.
		if payload := packet[4:]; packet[3] == 0 && length > 0 {
			switch payload[0] {
			case commandBinlogDump:
				binary.LittleEndian.PutUint32(payload[7:], id)
			case commandRegisterSlave:
				binary.LittleEndian.PutUint32(payload[1:], id)
			}
		}
		if _, err := server.Write(packet); err != nil {
			return
		}
	}
}
