// SPDX-License-Identifier: Apache-2.0

package estate

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"minos.dev/minos/sim/file"
)

// logLimit is where a log is put aside when its part starts.
const logLimit = 64 << 20

// openLog opens a part's log to be written on.
func (e *Estate) openLog(name Part) (*os.File, error) {
	if err := e.turnLog(name); err != nil {
		return nil, err
	}
	return os.OpenFile(e.LogFile(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// turnLog puts a log aside that has grown.
func (e *Estate) turnLog(name Part) error {
	info, err := os.Stat(e.LogFile(name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < logLimit {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Rename(e.LogFile(name), e.LogFile(name)+".old")
}

// keptToken is the token that a file keeps, or a new one.
func keptToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		token := rand.Text()
		return token, file.Write(path, []byte(token))
	}
	if err == nil && len(text) == 0 {
		err = fmt.Errorf("%s is empty: remove the folder, or the file", path)
	}
	return string(text), err
}
