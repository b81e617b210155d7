// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"minos.dev/minos/kube/dev"
)

const (
	storeQuota = 2 << 30
	// journalSegment is what etcd reserves on disk, twice, before anything is stored. Upstream's 64 MB is for larger
	// clusters than those made and thrown away by tests.
	journalSegment = 16 << 20
)

// A store is etcd, running.
type store struct {
	*embed.Etcd
	url string
}

// startStore starts etcd and waits until it answers. When the context ends before that, it answers nil without an error.
func startStore(ctx context.Context, spec dev.Spec) (*store, error) {
	wal.SegmentSizeBytes = journalSegment
	etcd, err := embed.StartEtcd(storeConfig(spec))
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return &store{Etcd: etcd, url: "https://" + etcd.Clients[0].Addr().String()}, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, fmt.Errorf("start etcd: %w", err)
	case <-ctx.Done():
		etcd.Close()
		return nil, nil
	}
}

// storeConfig has etcd listen on ports that the kernel picks, and talk only to who has a certificate of etcd's own
// authority: on a shared machine the loopback address is open to every user.
func storeConfig(spec dev.Spec) *embed.Config {
	anyPort := []url.URL{{Scheme: "https", Host: "127.0.0.1:0"}}
	identity := transport.TLSInfo{
		CertFile:       spec.Files.Etcd.Cert,
		KeyFile:        spec.Files.Etcd.Key,
		TrustedCAFile:  spec.Files.EtcdCA.Cert,
		ClientCertAuth: true,
	}
	c := embed.NewConfig()
	c.Name = "minos-kube"
	c.Dir = spec.DataDir
	c.ListenClientUrls, c.AdvertiseClientUrls, c.ClientTLSInfo = anyPort, anyPort, identity
	c.ListenPeerUrls, c.AdvertisePeerUrls, c.PeerTLSInfo = anyPort, anyPort, identity
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.EnableGRPCGateway = false // it would dial the port it was told, which is none
	c.QuotaBackendBytes = storeQuota
	c.UnsafeNoFsync = spec.UnsafeNoFsync
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(storeLog(spec.Log, spec.Warn))
	return c
}

// watch fails the plane when etcd does. The channel is closed when etcd is.
func (s *store) watch(fail context.CancelCauseFunc) {
	go func() {
		if err, open := <-s.Err(); open && err != nil {
			fail(fmt.Errorf("etcd stopped: %w", err))
		}
	}()
}

func storeLog(to io.Writer, warn func(string)) *zap.Logger {
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(form), zapcore.AddSync(to), zapcore.ErrorLevel)
	return zap.New(core, zap.ErrorOutput(zapcore.AddSync(to)), zap.WithFatalHook(fatal{warn}))
}

// fatal says on the way out what etcd would only have logged.
type fatal struct{ warn func(string) }

// OnWrite is called after a fatal message was logged.
func (f fatal) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	words := "etcd gave up: " + entry.Message
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok {
			words += ": " + err.Error()
		}
	}
	f.warn(words)
	os.Exit(1)
}
