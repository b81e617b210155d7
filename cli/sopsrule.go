// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"minos.dev/minos/sops"
)

// sopsConfigName is the file that says which files are encrypted for whom.
const sopsConfigName = ".sops.yaml"

// ruleFor returns the rule by which a file is encrypted: for the recipients that were given, or as the nearest .sops.yaml
// from the file upward says, as sops does it. Without either there is no rule, and nothing is written that anybody could
// read.
func ruleFor(path string, recipients []string) (sops.Rule, error) {
	if len(recipients) > 0 {
		for _, recipient := range recipients {
			if err := sops.CheckRecipient(recipient); err != nil {
				return sops.Rule{}, fmt.Errorf("--age: %w", err)
			}
		}
		return sops.Rule{Recipients: recipients}, nil
	}
	config, text, err := findSopsConfig(path)
	if err != nil {
		return sops.Rule{}, err
	}
	parsed, err := sops.ParseConfig(text)
	if err != nil {
		return sops.Rule{}, fmt.Errorf("%s: %w", config, err)
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return sops.Rule{}, err
	}
	below, err := filepath.Rel(filepath.Dir(config), whole)
	if err != nil {
		return sops.Rule{}, err
	}
	rule, err := parsed.For(filepath.ToSlash(below))
	if err != nil {
		err = fmt.Errorf("%s: %w", config, err)
	}
	if _, ok := errors.AsType[*sops.NoRuleError](err); ok {
		return rule, Hint(err, "add a rule whose path_regex matches, or give --age RECIPIENT")
	}
	return rule, err
}

// errNoSopsConfig says that there is no .sops.yaml above a file.
var errNoSopsConfig = errors.New("there is no " + sopsConfigName)

// findSopsConfig looks for .sops.yaml from a file upward.
func findSopsConfig(path string) (string, []byte, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	for {
		config := filepath.Join(dir, sopsConfigName)
		text, err := os.ReadFile(config)
		if err == nil {
			return config, text, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", nil, fmt.Errorf("could not read the rules: %w", err)
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", nil, Hint(fmt.Errorf("nobody to encrypt %s for: %w from its folder upward", path, errNoSopsConfig),
				"give --age RECIPIENT, which 'age-keygen' prints; or write "+sopsConfigName+" with creation_rules")
		}
		dir = above
	}
}

// newSopsConfig is a .sops.yaml by which all files called *.sops.yaml are encrypted for recipients.
func newSopsConfig(recipients []string) []byte {
	return fmt.Appendf(nil, `# Which files are encrypted, and for whom. After a change here, 'sops updatekeys FILE' brings a file up to date.
creation_rules:
  - path_regex: \.sops\.ya?ml$
    age: %s
`, strings.Join(recipients, ","))
}
