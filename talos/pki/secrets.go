// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
)

// Secrets is all that is secret of a cluster.
type Secrets struct {
	// Bundle is what machines are configured with.
	Bundle *secrets.Bundle
	// Rotations are those under way, at most one for each part.
	Rotations []Rotation
}

// New makes the secrets of a new cluster, of the kinds that a Talos version wants. They are different each time.
func New(contract *config.VersionContract, now time.Time) (*Secrets, error) {
	return newSecrets(contract, now)
}

// NewIdentity makes of them what a cluster keeps whose control plane is not of Talos machines. The rest is made and dropped, so that
// it is made of what is cheap: a key for service accounts of the kind that Talos prefers takes a second.
func NewIdentity(contract *config.VersionContract, now time.Time) (*Secrets, error) {
	made, err := newSecrets(contract, now, secrets.WithECDSAServiceAccountKey())
	if err != nil {
		return nil, err
	}
	made.Bundle.Certs = &secrets.Certs{OS: made.Bundle.Certs.OS}
	made.Bundle.Secrets = &secrets.Secrets{BootstrapToken: made.Bundle.Secrets.BootstrapToken}
	return made, nil
}

// newSecrets makes all of them.
func newSecrets(contract *config.VersionContract, now time.Time, options ...secrets.Option) (*Secrets, error) {
	if now.IsZero() {
		return nil, errors.New("no time is given, and authorities need one") // Talos would look at the clock
	}
	bundle, err := secrets.NewBundle(secrets.NewFixedClock(now), contract, options...)
	if err != nil {
		return nil, fmt.Errorf("make secrets: %w", err)
	}
	return &Secrets{Bundle: bundle}, nil
}

// file is the form of talosctl: names in lower case, PEM in base64, in this order. We spell it out instead of using Talos's
// types to be able to name what is broken.
type file struct {
	Cluster struct {
		ID     string `yaml:"id"`
		Secret string `yaml:"secret"`
	} `yaml:"cluster"`
	Secrets struct {
		BootstrapToken  string `yaml:"bootstraptoken"`
		AESCBCSecret    string `yaml:"aescbcencryptionsecret,omitempty"`
		SecretboxSecret string `yaml:"secretboxencryptionsecret,omitempty"`
	} `yaml:"secrets"`
	TrustdInfo struct {
		Token string `yaml:"token"`
	} `yaml:"trustdinfo"`
	Certs struct {
		Etcd           *pair `yaml:"etcd"`
		K8s            *pair `yaml:"k8s"`
		Aggregator     *pair `yaml:"k8saggregator"`
		ServiceAccount *key  `yaml:"k8sserviceaccount"`
		OS             *pair `yaml:"os"`
	} `yaml:"certs"`
	Minos *ours `yaml:"minos,omitempty"`
}

// ours is what talosctl does not know.
type ours struct {
	Rotation []Rotation `yaml:"rotation,omitempty"`
}

type pair struct {
	Crt string `yaml:"crt"`
	Key string `yaml:"key"`
}

type key struct {
	Key string `yaml:"key"`
}

// Parse reads secrets and says what is missing or broken in them. A part that is not known is refused: it would be lost
// when they are written again.
func Parse(text []byte, need Need) (*Secrets, error) {
	var read file
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&read); err != nil {
		return nil, withoutValues(err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more than one document, and secrets are one")
	}
	s := &Secrets{Bundle: &secrets.Bundle{
		Clock:   secrets.NewClock(), // as Talos's own loader has it; nothing here asks it
		Cluster: &secrets.Cluster{ID: read.Cluster.ID, Secret: read.Cluster.Secret},
		Secrets: &secrets.Secrets{
			BootstrapToken:         read.Secrets.BootstrapToken,
			AESCBCEncryptionSecret: read.Secrets.AESCBCSecret, SecretboxEncryptionSecret: read.Secrets.SecretboxSecret,
		},
		TrustdInfo: &secrets.TrustdInfo{Token: read.TrustdInfo.Token},
		Certs:      &secrets.Certs{},
	}}
	if err := s.readCerts(&read); err != nil {
		return nil, err
	}
	if read.Minos != nil {
		s.Rotations = read.Minos.Rotation
	}
	return s, s.check(need)
}

// readCerts decodes the certificates and keys.
func (s *Secrets) readCerts(read *file) (err error) {
	certs := s.Bundle.Certs
	for _, one := range []struct {
		name string
		from *pair
		into **x509.PEMEncodedCertificateAndKey
	}{
		{"etcd", read.Certs.Etcd, &certs.Etcd}, {"k8s", read.Certs.K8s, &certs.K8s},
		{"k8saggregator", read.Certs.Aggregator, &certs.K8sAggregator}, {"os", read.Certs.OS, &certs.OS},
	} {
		if one.from == nil {
			continue
		}
		*one.into = &x509.PEMEncodedCertificateAndKey{}
		if (*one.into).Crt, err = decode("certs."+one.name+".crt", one.from.Crt); err != nil {
			return err
		}
		if (*one.into).Key, err = decode("certs."+one.name+".key", one.from.Key); err != nil {
			return err
		}
	}
	if account := read.Certs.ServiceAccount; account != nil {
		certs.K8sServiceAccount = &x509.PEMEncodedKey{}
		certs.K8sServiceAccount.Key, err = decode("certs.k8sserviceaccount.key", account.Key)
	}
	return err
}

// decode reads base64, and says where it is none.
func decode(name, text string) ([]byte, error) {
	if text == x509.Redacted {
		return nil, fmt.Errorf("%s is redacted: take it from where it was not", name)
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not base64", name)
	}
	return decoded, nil
}

// withoutValues takes values out of an error of YAML: they are secret.
func withoutValues(err error) error {
	broken, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		if errors.Is(err, io.EOF) {
			return errors.New("is empty, and should be a secrets bundle of Talos")
		}
		return err
	}
	first := broken.Errors[0]
	if line, _, found := strings.Cut(first, ": cannot unmarshal"); found {
		return fmt.Errorf("%s: is of another shape than in a secrets bundle of Talos", line)
	}
	line, rest, _ := strings.Cut(first, ": field ")
	field, _, _ := strings.Cut(rest, " ")
	return fmt.Errorf("%s: a secrets bundle of Talos has no %q", line, field)
}

// Marshal writes secrets as talosctl does.
func (s *Secrets) Marshal() ([]byte, error) {
	bundle := s.Bundle
	var written file
	if bundle.Cluster != nil {
		written.Cluster.ID, written.Cluster.Secret = bundle.Cluster.ID, bundle.Cluster.Secret
	}
	if bundle.Secrets != nil {
		written.Secrets.BootstrapToken = bundle.Secrets.BootstrapToken
		written.Secrets.AESCBCSecret = bundle.Secrets.AESCBCEncryptionSecret
		written.Secrets.SecretboxSecret = bundle.Secrets.SecretboxEncryptionSecret
	}
	if bundle.TrustdInfo != nil {
		written.TrustdInfo.Token = bundle.TrustdInfo.Token
	}
	if certs := bundle.Certs; certs != nil {
		written.Certs.Etcd, written.Certs.K8s = encode(certs.Etcd), encode(certs.K8s)
		written.Certs.Aggregator, written.Certs.OS = encode(certs.K8sAggregator), encode(certs.OS)
		if certs.K8sServiceAccount != nil {
			written.Certs.ServiceAccount = &key{base64.StdEncoding.EncodeToString(certs.K8sServiceAccount.Key)}
		}
	}
	if len(s.Rotations) > 0 {
		written.Minos = &ours{Rotation: s.Rotations}
	}
	return yaml.Marshal(written)
}

func encode(from *x509.PEMEncodedCertificateAndKey) *pair {
	if from == nil {
		return nil
	}
	return &pair{base64.StdEncoding.EncodeToString(from.Crt), base64.StdEncoding.EncodeToString(from.Key)}
}
