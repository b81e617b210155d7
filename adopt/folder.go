// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
)

// What may be read of a folder that nobody has to trust. Real folders stay far below.
const (
	largestFile  = 4 << 20
	mostFiles    = 4096
	mostMachines = 1024
)

// A Folder is a folder of another tool. It reads nothing outside of itself.
type Folder struct {
	// FS is the folder. A link in it must not lead out of it, which os.Root sees to.
	FS fs.FS
	// Decrypt returns a text as it was before SOPS encrypted it, and whether it was encrypted at all.
	Decrypt func(text []byte) (plain []byte, encrypted bool, err error)

	read map[string]*File
}

// A File is one file of a folder.
type File struct {
	// Name is its path below the folder.
	Name string
	// Raw is what it holds, and Text the same decrypted.
	Raw, Text []byte
	// Encrypted says whether the two differ.
	Encrypted bool
}

// Read returns a file. That it is not there is fs.ErrNotExist.
func (f *Folder) Read(name string) (*File, error) {
	if found, ok := f.read[name]; ok {
		return found, nil
	}
	if len(f.read) >= mostFiles {
		return nil, fmt.Errorf("more than %d files are used", mostFiles)
	}
	raw, err := f.raw(name)
	if err != nil {
		return nil, err
	}
	file := &File{Name: name, Raw: raw, Text: raw}
	if f.Decrypt != nil {
		if file.Text, file.Encrypted, err = f.Decrypt(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if f.read == nil {
		f.read = map[string]*File{}
	}
	f.read[name] = file
	return file, nil
}

// raw reads a file as it is.
func (f *Folder) raw(name string) ([]byte, error) {
	opened, err := f.FS.Open(name)
	if err != nil {
		return nil, plainError(name, err)
	}
	defer func() { _ = opened.Close() }() // it was only read
	if info, err := opened.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder, not a file", name)
	}
	text, err := io.ReadAll(io.LimitReader(opened, largestFile+1))
	if err != nil {
		return nil, plainError(name, err)
	}
	if len(text) > largestFile {
		return nil, fmt.Errorf("%s: is larger than %d MiB", name, largestFile>>20)
	}
	return text, nil
}

// plainError says what a file system says, without the path of the machine that it runs on.
func plainError(name string, err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case ok && strings.Contains(failed.Err.Error(), "escapes"):
		return fmt.Errorf("%s: leads out of the folder, and nothing outside is read", name)
	case ok:
		return fmt.Errorf("%s: %w", name, failed.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Encrypted are the files that were read and are encrypted, by name.
func (f *Folder) Encrypted() []*File {
	var all []*File
	for _, name := range slices.Sorted(maps.Keys(f.read)) {
		if f.read[name].Encrypted {
			all = append(all, f.read[name])
		}
	}
	return all
}

// Resolve is the path of a file that is named relative to a folder. A name that leads out of the whole is an error.
func Resolve(dir, name string) (string, error) {
	name = strings.TrimSpace(name)
	if path.IsAbs(name) {
		return "", fmt.Errorf("%q is not a path within the folder, and nothing outside is read", name)
	}
	joined := path.Join(dir, name)
	if !fs.ValidPath(joined) || joined == "." {
		return "", fmt.Errorf("%q leads out of the folder, and nothing outside is read: import the folder that holds it", name)
	}
	return joined, nil
}

// LoadBundle reads a bundle of secrets, strictly: a field that Talos does not know is a mistake.
func LoadBundle(text []byte) (*secrets.Bundle, error) {
	bundle := &secrets.Bundle{}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(bundle); err != nil {
		return nil, errors.New("is not a bundle of Talos secrets: " + shortError(err))
	}
	if err := complete(bundle); err != nil {
		return nil, err
	}
	return bundle, nil
}

// complete says what a bundle lacks.
func complete(bundle *secrets.Bundle) error {
	if bundle.Cluster == nil || bundle.Secrets == nil || bundle.TrustdInfo == nil || bundle.Certs == nil {
		return errors.New("is not a complete bundle: cluster, secrets, trustdinfo and certs must be there")
	}
	certs := bundle.Certs
	for _, one := range []*x509.PEMEncodedCertificateAndKey{certs.OS, certs.K8s, certs.Etcd, certs.K8sAggregator} {
		if one == nil || len(one.Crt) == 0 {
			return errors.New("is not a complete bundle: certs must have os, k8s, etcd and k8saggregator with their certificates")
		}
	}
	if certs.K8sServiceAccount == nil {
		return errors.New("is not a complete bundle: certs must have k8sserviceaccount")
	}
	return nil
}

// shortError is what a YAML library says, in one line and without values, which may be secret.
func shortError(err error) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), "`")
	text = strings.ReplaceAll(strings.TrimPrefix(text, "unmarshal errors:\n"), "\n", ";")
	return strings.TrimSpace(text)
}

// TooMany refuses a folder with more machines than anybody has.
func TooMany(n int) error {
	if n > mostMachines {
		return fmt.Errorf("%d machines, and a folder may have %d", n, mostMachines)
	}
	return nil
}
