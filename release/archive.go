// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// checksumsName is the file that sha256sum -c reads.
const checksumsName = "SHA256SUMS"

// An archive is a tar.gz whose bytes follow from the content of its members alone: nobody owns them, and all are as old as the
// commit.
type archive struct {
	path, folder string
	made         time.Time
	members      []member
}

// A member is a file of an archive.
type member struct {
	name, path string
	mode       int64
}

// write writes the archive.
func (a archive) write() (err error) {
	file, err := os.Create(a.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	tape := tar.NewWriter(packed)
	for _, one := range a.members {
		if err := a.add(tape, one); err != nil {
			return err
		}
	}
	return errors.Join(tape.Close(), packed.Close())
}

// add writes one member.
func (a archive) add(tape *tar.Writer, one member) error {
	content, err := os.ReadFile(one.path)
	if err != nil {
		return err
	}
	err = tape.WriteHeader(&tar.Header{
		Format: tar.FormatUSTAR, Typeflag: tar.TypeReg,
		Name: a.folder + "/" + one.name, Mode: one.mode, Size: int64(len(content)), ModTime: a.made,
	})
	if err != nil {
		return err
	}
	_, err = tape.Write(content)
	return err
}

// writeChecksums writes the sums of all files below a folder.
func writeChecksums(folder string) error {
	text, err := checksums(folder)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, checksumsName), text, 0o644)
}

// checksums are the sums of all files below a folder but their own, as sha256sum prints them.
func checksums(folder string) ([]byte, error) {
	var lines []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == checksumsName {
			return err
		}
		sum, err := sumOf(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		lines = append(lines, sum+"  "+filepath.ToSlash(name)+"\n")
		return err
	})
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[2*sha256.Size:], b[2*sha256.Size:]) })
	return []byte(strings.Join(lines, "")), err
}

// sumOf is the SHA-256 of a file.
func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
