// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"strings"
)

const cliHead = `# Commands and flags

<!-- Generated from the programs by 'make generate'. -->

Every command of ` + "`minos`, `minos-operator` and `minos-signer`" + `, as their ` + "`--help`" + ` has it. [The command line](../cli.md) says how they are meant.

A flag wins over its variable, a variable over the default, and an empty variable is an unset one. ` + "`--help`" + ` is the one flag without a variable.
Data goes to standard output, words to standard error.

| exit code of ` + "`minos`" + ` | when |
|---|---|
`

// cliPage is the page of commands and flags. It asks the programs themselves: nobody else knows all of their commands.
func cliPage() ([]byte, error) {
	var page bytes.Buffer
	page.WriteString(cliHead)
	codes, err := exitCodes("cli/errors.go")
	if err != nil {
		return nil, err
	}
	page.WriteString(codes + "\n")
	commands, err := answer("minos", "reference")
	if err != nil {
		return nil, err
	}
	page.WriteString(commands)
	for _, program := range []string{"minos-operator", "minos-signer"} {
		help, err := answer(program, "--help")
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s```\n\nExits with 0 when it was asked to end, 1 on an error, and 2 for a command line that makes no sense.\n", program, help)
	}
	return page.Bytes(), nil
}

// answer is what a program of ours prints.
func answer(program, argument string) (string, error) {
	out, err := exec.Command("go", "run", "./cmd/"+program, argument).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, argument, err, out)
	}
	return string(out), nil
}

// exitCodes are the rows of the table of exit codes, read from the constants and their comments.
func exitCodes(source string) (string, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
	if err != nil {
		return "", err
	}
	var rows strings.Builder
	ast.Inspect(tree, func(node ast.Node) bool {
		constant, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(constant.Names[0].Name, "Exit") || len(constant.Values) != 1 {
			return true
		}
		meaning := strings.TrimPrefix(sentence(constant.Comment.Text()), constant.Names[0].Name+" is ")
		fmt.Fprintf(&rows, "| %s | %s |\n", constant.Values[0].(*ast.BasicLit).Value, strings.TrimSuffix(meaning, "."))
		return true
	})
	if rows.Len() == 0 {
		return "", fmt.Errorf("%s has no exit codes", source)
	}
	return rows.String(), nil
}
