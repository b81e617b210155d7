// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"minos.dev/minos/kube/file"
)

const (
	certBlock = "CERTIFICATE"
	keyBlock  = "PRIVATE KEY"
)

// read gives the content of the one PEM block in a file, or nil when there is no such file.
func read(path, kind string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a key or certificate: %w", err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM; restore it, or remove it to have a new one made", path)
	}
	if block.Type != kind {
		return nil, fmt.Errorf("%s holds a %s, not a %s; restore it, or remove it to have a new one made", path, block.Type, kind)
	}
	return block.Bytes, nil
}

func readCert(path string) (*x509.Certificate, error) {
	der, err := read(path, certBlock)
	if der == nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("%s is not a certificate: %w", path, err)
	}
	return cert, nil
}

func readKey(path string) (crypto.Signer, error) {
	der, err := read(path, keyBlock)
	if der == nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("%s is not a private key: %w", path, err)
	}
	key, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s is a key that cannot sign", path)
	}
	return key, nil
}

// readPair gives what there is of a pair.
func readPair(at Pair) (*x509.Certificate, crypto.Signer, error) {
	cert, err := readCert(at.Cert)
	if err != nil {
		return nil, nil, err
	}
	key, err := readKey(at.Key)
	return cert, key, err
}

func writeCert(path string, cert *x509.Certificate) error {
	return file.Write(path, encodeCert(cert))
}

func encodeCert(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: cert.Raw})
}

func writeKey(path string, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return file.Write(path, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}))
}
