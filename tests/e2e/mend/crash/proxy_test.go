package crash

import (
	"context"
	"net"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip" // what clients may send
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// boundary is where a repair is cut: as one of its steps is done, for Temporal
// too (delivered) or not.
type boundary struct {
	step      string
	after     string // a step that has to be done before
	delivered bool

	fired int
}

// proxy stands between seedmend and Temporal, passes everything on as it is, and
// kills seedmend at the boundaries.
type proxy struct {
	address string
	conn    *grpc.ClientConn
	kill    func()

	mu         sync.Mutex
	boundaries map[string]*boundary      // by workflow ID
	done       map[string]map[string]int // steps that Temporal knows, by workflow ID
	begun      bool                      // the kills have
}

func newProxy(t *testing.T, temporal string, boundaries map[string]*boundary, kill func()) *proxy {
	t.Helper()
	p := &proxy{boundaries: boundaries, kill: kill, done: map[string]map[string]int{}}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.address = listener.Addr().String()
	const most = 64 << 20
	p.conn, err = grpc.NewClient(temporal, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(most), grpc.MaxCallSendMsgSize(most)))
	require.NoError(t, err)
	server := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(p.handle), grpc.MaxRecvMsgSize(most), grpc.MaxSendMsgSize(most))
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
		_ = p.conn.Close()
	})
	return p
}

// raw is a codec for messages as they are.
type raw struct{}

type message struct{ data []byte }

func (raw) Marshal(v any) ([]byte, error) { return v.(*message).data, nil }

func (raw) Unmarshal(data []byte, v any) error {
	v.(*message).data = data
	return nil
}

func (raw) Name() string { return "proto" }

// handle passes one call on; Temporal has unary ones only.
func (p *proxy) handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	var in message
	if err := stream.RecvMsg(&in); err != nil {
		return err
	}
	if path.Base(method) != "RespondActivityTaskCompleted" {
		return p.pass(stream.Context(), stream, method, &in)
	}
	workflow, step := subject(in.data)
	cut := p.reach(stream.Context(), workflow, step)
	// Not for so long that the step, which is silent now, is taken for cut.
	for end := time.Now().Add(7 * time.Second); cut != nil && !p.assembled() && stream.Context().Err() == nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if cut != nil && !cut.delivered {
		p.kill()
		return status.Error(codes.Unavailable, "the answer is lost")
	}
	// Whether it was delivered has to be known, whatever becomes of seedmend.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(stream.Context()), 10*time.Second)
	defer cancel()
	var out message
	err := p.conn.Invoke(outgoing(ctx), method, &in, &out)
	p.settle(workflow, step, cut, err)
	if err != nil {
		return err
	}
	if cut != nil {
		p.kill()
	}
	return stream.SendMsg(&out)
}

func (p *proxy) pass(ctx context.Context, stream grpc.ServerStream, method string, in *message) error {
	var out message
	if err := p.conn.Invoke(outgoing(ctx), method, in, &out); err != nil {
		return err
	}
	return stream.SendMsg(&out)
}

// reach answers the boundary that an answer has come to, if it is one.
func (p *proxy) reach(ctx context.Context, workflow, step string) *boundary {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, done := p.boundaries[workflow], p.done[workflow]
	switch {
	case b == nil, b.fired > 0, b.step != step, b.after != "" && done[b.after] == 0:
		return nil
	case ctx.Err() != nil:
		return nil // from a process that is gone
	}
	b.fired++
	return b
}

// assembled tells whether every repair has come to its boundary or as far as its
// wait. Before that nothing is killed: a repair that is late has no wait any more,
// and fewer steps.
func (p *proxy) assembled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for workflow, b := range p.boundaries {
		if b.fired == 0 && p.done[workflow]["Tell"] == 0 {
			return p.begun
		}
	}
	p.begun = true
	return true
}

func (p *proxy) settle(workflow, step string, cut *boundary, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if cut != nil {
			cut.fired-- // it was late: Temporal gave the step to another attempt
		}
		return
	}
	if p.done[workflow] == nil {
		p.done[workflow] = map[string]int{}
	}
	p.done[workflow][step]++
}

// subject reads whose step an answer is about: Temporal's task token is a
// message, with the workflow's ID as field 2 and the activity's type as field 8.
func subject(request []byte) (workflow, step string) {
	var r workflowservice.RespondActivityTaskCompletedRequest
	if err := proto.Unmarshal(request, &r); err != nil {
		return "", ""
	}
	for token := r.GetTaskToken(); len(token) > 0; {
		number, kind, n := protowire.ConsumeTag(token)
		if n < 0 {
			return "", ""
		}
		token = token[n:]
		length := protowire.ConsumeFieldValue(number, kind, token)
		if length < 0 {
			return "", ""
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(token)
			switch number {
			case 2:
				workflow = string(value)
			case 8:
				step = string(value)
			}
		}
		token = token[length:]
	}
	return workflow, step
}

// outgoing hands the caller's headers on, without those that gRPC sets itself.
func outgoing(ctx context.Context) context.Context {
	headers, _ := metadata.FromIncomingContext(ctx)
	headers = headers.Copy()
	for key := range headers {
		if strings.HasPrefix(key, ":") || strings.HasPrefix(key, "grpc-") || key == "content-type" || key == "user-agent" || key == "te" {
			delete(headers, key)
		}
	}
	return metadata.NewOutgoingContext(ctx, headers)
}
