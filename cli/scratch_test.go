// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// newScratch is a root as cmd/minos makes it: ours, and commands from elsewhere. They do nothing but show what the
// frame does for a command.
func newScratch(s Streams) *cobra.Command {
	root := New(s, testVersion)
	if ours, _, err := root.Find([]string{"pool"}); err == nil {
		root.RemoveCommand(ours) // scratch has one of its own
	}
	root.AddCommand(scratchPool(), scratchEnds(), scratchSignals())
	return root
}

type poolFlags struct {
	namespace string
	cluster   string
	replicas  int
	dryRun    bool
	labels    []string
	wait      time.Duration
}

func scratchPool() *cobra.Command {
	var f poolFlags
	pool := &cobra.Command{Use: "pool", Short: "Node pools", GroupID: GroupClusters, Aliases: []string{"pools"}}
	pool.PersistentFlags().StringVarP(&f.namespace, "namespace", "n", "default", "namespace of the pool")

	scale := &cobra.Command{
		Use:        "scale NAME",
		Short:      "Scale a pool",
		SuggestFor: []string{"resize"},
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s/%s of %s: replicas=%d dry-run=%t labels=%v wait=%s\n",
				f.namespace, args[0], f.cluster, f.replicas, f.dryRun, f.labels, f.wait)
			return err
		},
	}
	scale.Flags().StringVar(&f.cluster, "cluster", "", "cluster of the pool")
	scale.Flags().IntVar(&f.replicas, "replicas", 1, "machines to have")
	scale.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would change, and change nothing")
	scale.Flags().StringSliceVar(&f.labels, "label", nil, "label to set")
	scale.Flags().DurationVar(&f.wait, "wait", 0, "how long to wait")
	_ = scale.MarkFlagRequired("cluster") // it exists: see above

	list := &cobra.Command{
		Use:   "list [NAME...]",
		Short: "List pools",
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "listed", args)
			return err
		},
	}
	pool.AddCommand(scale, list)
	return pool
}

// scratchEnds has a command for each way to end.
func scratchEnds() *cobra.Command {
	cause := errors.New("read pool.yaml: no such file")
	ends := map[string]error{
		"well":     nil,
		"error":    cause,
		"hint":     fmt.Errorf("render: %w", Hint(cause, "run 'minos init' first")),
		"several":  errors.Join(errors.New("first"), errors.New("second")),
		"changes":  Exit(ExitChanges, nil),
		"findings": Hint(Exit(ExitFindings, errors.New("2 checks failed")), "look above"),
	}
	end := &cobra.Command{Use: "end", Short: "Ways to end", GroupID: GroupDevelop}
	for name, err := range ends {
		end.AddCommand(&cobra.Command{Use: name, RunE: func(*cobra.Command, []string) error { return err }})
	}
	return end
}

// scratchSignals has commands that press Ctrl-C themselves, so that no test has to guess when.
func scratchSignals() *cobra.Command {
	interrupt := func(ctx context.Context) error {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		if err := self.Signal(os.Interrupt); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	sig := &cobra.Command{Use: "interrupt", Short: "Ways to be interrupted", GroupID: GroupDevelop}
	sig.AddCommand(
		&cobra.Command{Use: "once", RunE: func(cmd *cobra.Command, _ []string) error {
			return fmt.Errorf("wait for machines: %w", interrupt(cmd.Context()))
		}},
		&cobra.Command{Use: "leftover", RunE: func(cmd *cobra.Command, _ []string) error {
			_ = interrupt(cmd.Context())
			return errors.New("machine workers-2 is left behind")
		}},
		&cobra.Command{Use: "done", RunE: func(cmd *cobra.Command, _ []string) error {
			_ = interrupt(cmd.Context())
			return nil
		}},
		&cobra.Command{Use: "twice", RunE: func(cmd *cobra.Command, _ []string) error {
			// The second takes effect once the first has been handled, which nothing announces: so press until it does.
			again, enough := time.NewTicker(10*time.Millisecond), time.After(5*time.Second)
			defer again.Stop()
			for {
				_ = interrupt(cmd.Context())
				select {
				case <-again.C:
				case <-enough:
					return errors.New("still alive")
				}
			}
		}},
	)
	return sig
}
