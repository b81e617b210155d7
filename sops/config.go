// SPDX-License-Identifier: Apache-2.0

package sops

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Config is what a file .sops.yaml says: which files are encrypted for whom.
type Config struct {
	rules  []creationRule
	indent int
}

// ParseConfig reads a file .sops.yaml.
func ParseConfig(text []byte) (Config, error) {
	if len(text) > maxSize {
		return Config{}, fmt.Errorf("has %d MiB, and may have %d", len(text)>>20, maxSize>>20)
	}
	var file struct {
		CreationRules []creationRule `yaml:"creation_rules"`
		Stores        struct {
			YAML struct {
				Indent int `yaml:"indent"`
			} `yaml:"yaml"`
		} `yaml:"stores"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return Config{}, err
	}
	indent := file.Stores.YAML.Indent
	if indent < 0 || indent > 9 {
		return Config{}, fmt.Errorf("stores.yaml.indent: %d is not between 1 and 9", indent)
	}
	return Config{rules: file.CreationRules, indent: indent}, nil
}

// For returns the rule for a file, given by its path below the folder of the configuration, with slashes. The first that
// matches is it. That none does is a NoRuleError: then a file would be written for nobody.
func (c Config) For(path string) (Rule, error) {
	for i, declared := range c.rules {
		matches, err := regexp.MatchString(declared.PathRegex, path)
		if err != nil {
			return Rule{}, fmt.Errorf("creation_rules[%d].path_regex: %w", i, err)
		}
		if !matches {
			continue
		}
		rule, err := declared.rule()
		if err != nil {
			return Rule{}, fmt.Errorf("creation_rules[%d]: %w", i, err)
		}
		rule.Indent = c.indent
		return rule, nil
	}
	return Rule{}, &NoRuleError{Path: path, Rules: len(c.rules)}
}

// A creationRule is one rule as it is written.
type creationRule struct {
	PathRegex         string     `yaml:"path_regex"`
	Age               words      `yaml:"age"`
	KeyGroups         []keyGroup `yaml:"key_groups"`
	EncryptedRegex    string     `yaml:"encrypted_regex"`
	UnencryptedRegex  string     `yaml:"unencrypted_regex"`
	EncryptedSuffix   string     `yaml:"encrypted_suffix"`
	UnencryptedSuffix string     `yaml:"unencrypted_suffix"`
	MACOnlyEncrypted  bool       `yaml:"mac_only_encrypted"`
	ShamirThreshold   int        `yaml:"shamir_threshold"` // means nothing while there is one group
	AWSProfile        string     `yaml:"aws_profile"`      // means nothing without keys of AWS

	// Others is all the rest. Leaving it out would lock out whoever holds those keys, or leave readable what should not be.
	Others map[string]yaml.Node `yaml:",inline"`
}

// A keyGroup is recipients of which one suffices.
type keyGroup struct {
	Age    words                `yaml:"age"`
	Merge  []keyGroup           `yaml:"merge"`
	Others map[string]yaml.Node `yaml:",inline"`
}

// rule is what a rule says, if it says what we can do.
func (r creationRule) rule() (Rule, error) {
	if err := unsupported(r.Others); err != nil {
		return Rule{}, err
	}
	recipients := []string(r.Age)
	switch len(r.KeyGroups) {
	case 0:
	case 1:
		var err error
		if recipients, err = r.KeyGroups[0].recipients(0); err != nil {
			return Rule{}, err
		}
	default:
		return Rule{}, &UnsupportedError{What: "a data key that is split between key groups"}
	}
	if len(recipients) == 0 {
		return Rule{}, errors.New("names no age recipient")
	}
	for _, recipient := range recipients {
		if err := CheckRecipient(recipient); err != nil {
			return Rule{}, fmt.Errorf("age: %w", err)
		}
	}
	rule := Rule{
		Recipients: recipients, EncryptedRegex: r.EncryptedRegex, UnencryptedRegex: r.UnencryptedRegex,
		EncryptedSuffix: r.EncryptedSuffix, UnencryptedSuffix: r.UnencryptedSuffix, MACOnlyEncrypted: r.MACOnlyEncrypted,
	}
	_, err := rule.matcher()
	return rule, err
}

// recipients are those of a group and of the groups that are merged into it.
func (g keyGroup) recipients(depth int) ([]string, error) {
	if err := unsupported(g.Others); err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("key groups are merged more than %d times", maxDepth)
	}
	var all []string
	for _, merged := range g.Merge {
		below, err := merged.recipients(depth + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return append(all, g.Age...), nil
}

// unsupported names the first thing of a rule that is not known here. An empty one means nothing.
func unsupported(others map[string]yaml.Node) error {
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if node := others[name]; len(node.Content) > 0 || node.Value != "" && node.ShortTag() != "!!null" {
			return &UnsupportedError{What: name}
		}
	}
	return nil
}

// words are a list, or one text with commas in it.
type words []string

// UnmarshalYAML reads either form.
func (w *words) UnmarshalYAML(node *yaml.Node) error {
	var listed []string
	if node.Kind == yaml.ScalarNode {
		listed = strings.Split(node.Value, ",")
	} else if err := node.Decode(&listed); err != nil {
		return err
	}
	for _, word := range listed {
		if word = strings.TrimSpace(word); word != "" {
			*w = append(*w, word)
		}
	}
	return nil
}
