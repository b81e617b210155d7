// SPDX-License-Identifier: Apache-2.0

package loopback_test

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minos.dev/minos/sim/loopback"
)

// holdVariable makes this test binary the other program: it claims the network of the folder that is named, and keeps it
// until its standard input ends.
const holdVariable = "LOOPBACK_TEST_HOLD"

func TestMain(m *testing.M) {
	if folder := os.Getenv(holdVariable); folder != "" {
		network, err := loopback.Claim(folder)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = fmt.Fprintln(os.Stdout, network.Prefix())
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0) // as a program that is killed does: nothing is closed
	}
	os.Exit(m.Run())
}

// claim claims a network and gives it back with the test.
func claim(t *testing.T, folder string) *loopback.Network {
	t.Helper()
	network, err := loopback.Claim(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() }) // it may be closed already
	return network
}

// take takes an address.
func take(t *testing.T, network *loopback.Network, name string) netip.Addr {
	t.Helper()
	address, err := network.Take(name)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func TestTwoClaimsDiffer(t *testing.T) {
	one, other := claim(t, ""), claim(t, "")
	if one.Prefix() == other.Prefix() {
		t.Errorf("both have %s", one.Prefix())
	}
	for _, network := range []*loopback.Network{one, other} {
		bytes := network.Prefix().Addr().As4()
		if network.Prefix().Bits() != 16 || bytes[0] != 127 || bytes[1] < 16 || bytes[1] == 255 {
			t.Errorf("%s is none of ours", network.Prefix())
		}
	}
}

func TestGiveAndTake(t *testing.T) {
	network := claim(t, "")
	a, b := take(t, network, "a"), take(t, network, "b")
	if a == b || a != take(t, network, "a") {
		t.Errorf("a has %s and then %s, b has %s", a, take(t, network, "a"), b)
	}
	for _, address := range []netip.Addr{a, b} {
		if !network.Prefix().Contains(address) || address.As4()[2] == 0 {
			t.Errorf("%s is not for use in %s", address, network.Prefix())
		}
		listener, err := net.Listen("tcp4", netip.AddrPortFrom(address, 0).String())
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close()
	}
	if err := network.Give("a"); err != nil {
		t.Fatal(err)
	}
	if err := network.Give("nobody"); err != nil {
		t.Error(err)
	}
	if c := take(t, network, "c"); c != a {
		t.Errorf("c has %s, want %s, which was given back", c, a)
	}
	if again := take(t, network, "a"); again == a || again == b {
		t.Errorf("a has %s, which is another's", again)
	}
}

func TestARestartHasTheSame(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	network := claim(t, folder)
	prefix, a, b := network.Prefix(), take(t, network, "a"), take(t, network, "b")
	if err := network.Give("a"); err != nil {
		t.Fatal(err)
	}
	c := take(t, network, "c") // which is where a was
	if err := network.Close(); err != nil {
		t.Fatal(err)
	}
	network = claim(t, folder)
	d := take(t, network, "d") // before anybody who was there asks
	if network.Prefix() != prefix || take(t, network, "b") != b || take(t, network, "c") != c {
		t.Errorf("b has %s and c %s in %s, want %s and %s in %s", take(t, network, "b"), take(t, network, "c"), network.Prefix(), b, c, prefix)
	}
	if d == b || d == c || c != a {
		t.Errorf("a had %s, b has %s, c has %s and d %s", a, b, c, d)
	}
}

// TestAnotherProcess has another program hold the network of a folder, and end without closing anything.
func TestAnotherProcess(t *testing.T) {
	folder := t.TempDir()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), holdVariable+"="+folder)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	prefix, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	prefix = strings.TrimSpace(prefix)
	want := prefix + " of folder " + folder + " is in use by another program: end it, or use another folder"
	if _, err := loopback.Claim(folder); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, folder).Prefix().String(); got != prefix {
		t.Errorf("after it ended: %s, want %s", got, prefix)
	}
}

func TestBrokenFiles(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"empty":               {"", "it is cut off"},
		"cut off":             {`{"network": "127.16`, "it is cut off"},
		"without a network":   {`{}`, "is not of the form 127.16.0.0/16"},
		"not loopback":        {`{"network": "10.16.0.0/16"}`, "is not one of 127.16.0.0/16 to 127.254.0.0/16"},
		"everybody's":         {`{"network": "127.0.0.0/16"}`, "is not one of 127.16.0.0/16 to 127.254.0.0/16"},
		"another size":        {`{"network": "127.16.0.0/24"}`, "is not of the form"},
		"an address outside":  {`{"network": "127.16.0.0/16", "addresses": {"a": "127.17.1.1"}}`, "address 127.17.1.1 of a is not in 127.16.0.0/16"},
		"an address of two":   {`{"network": "127.16.0.0/16", "addresses": {"a": "127.16.1.1", "b": "127.16.1.1"}}`, "belongs to a and to b"},
		"an address of words": {`{"network": "127.16.0.0/16", "addresses": {"a": "here"}}`, "unable to parse IP"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, "loopback.json")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := loopback.Claim(folder)
			if err == nil || !strings.HasPrefix(err.Error(), "addresses of the last start in "+folder) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
			if text, err := os.ReadFile(file); err != nil || string(text) != test.text {
				t.Errorf("the file is %q now, %v", text, err)
			}
		})
	}
}
