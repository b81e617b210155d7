package talhelper_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"minos.dev/minos/adopt"
	"minos.dev/minos/adopt/talhelper"
)

func TestAdhoc(t *testing.T) {
	dir := os.Getenv("ADHOC")
	if dir == "" {
		t.Skip()
	}
	theirs := generate(t, dir)
	source, _, err := talhelper.Read(&adopt.Folder{FS: os.DirFS(dir)}, talhelper.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range source.Machines {
		if diff := cmp.Diff(byID(find(theirs, m.Name)), byID(m.Config)); diff != "" {
			t.Error(diff)
		}
	}
	result, err := adopt.Convert(source, adopt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n, f := range result.Files {
		fmt.Printf("== %s\n%s", n, f)
	}
	fmt.Println(result.Left, result.Notes, result.Proof)
}
