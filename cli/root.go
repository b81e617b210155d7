// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// The groups that the root's help is made of, in its order: a command of the root names one as its GroupID.
const (
	GroupFolder   = "folder"   // GroupFolder declares and checks a folder.
	GroupClusters = "clusters" // GroupClusters sees and changes clusters.
	GroupImages   = "images"   // GroupImages is about images and secrets.
	GroupDevelop  = "develop"  // GroupDevelop rehearses and develops.
	GroupAbout    = "about"    // GroupAbout is about minos itself.
)

// Streams are where commands read and write: data goes to Out, words go to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// New returns the root command with the commands of this room. A caller may add others before it hands the root to
// [Main].
func New(s Streams, v Version) *cobra.Command {
	root := &cobra.Command{
		Use:   "minos",
		Short: "Clusters, node pools and machines on Talos Linux",
		Long: `minos is what a fleet of Talos Linux machines obeys. Declare clusters, node
pools, roles and locations in a folder or in a management cluster; minos turns
them into images, machine configurations and machines, and keeps them right
while they change.`,
		Example:       "minos check fleet\nminos role list\nminos help",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.AddGroup(
		&cobra.Group{ID: GroupFolder, Title: "Declare and check a folder"},
		&cobra.Group{ID: GroupClusters, Title: "See and change clusters"},
		&cobra.Group{ID: GroupImages, Title: "Images and secrets"},
		&cobra.Group{ID: GroupDevelop, Title: "Rehearse and develop"},
		&cobra.Group{ID: GroupAbout, Title: "About minos"},
	)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_, _ = fmt.Fprint(cmd.OutOrStdout(), helpText(cmd)) // cobra takes no error from here
	})
	root.SetFlagErrorFunc(flagError)

	help := newHelp()
	root.SetHelpCommand(help)
	root.AddCommand(
		newInit(v),
		newCheck(v),
		newRender(),
		newDiff(),
		newImport(),
		newExport(),
		newRole(),
		newCluster(),
		newPool(),
		newDoctor(),
		newTest(),
		newImage(),
		newSecrets(),
		newCompletion(),
		help,
		newReference(),
		newVersion(v),
	)
	return root
}

// Main runs the command that args name and returns the exit code. Ctrl-C cancels the command's context; a second one
// kills the process, because by then the command has had its chance to end well.
func Main(root *cobra.Command, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Run(ctx, root, args)
}

// Run is [Main] under a context of the caller's: it runs the command that args name, reports its error on the root's
// stderr and returns the exit code.
func Run(ctx context.Context, root *cobra.Command, args []string) int {
	prepare(root)
	root.SetArgs(append([]string{}, args...)) // never nil, which cobra takes for os.Args
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil {
		err = interrupted(err)
	}
	return report(root.ErrOrStderr(), err)
}

// prepare gives every command what the frame promises for it. It waits until the tree is complete, so that commands
// added from other rooms are treated like ours. It uses Args because cobra calls it after the flags are parsed and
// before anything of the command runs, and because, unlike the persistent hooks, no child can replace it by accident.
func prepare(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		prepare(sub)
	}
	if cmd.HasSubCommands() {
		cmd.Args = onlyCommands
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		return
	}
	own := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := checkArgs(cmd, args); err != nil {
			return err
		}
		if err := readVariables(cmd); err != nil {
			return err
		}
		if err := checkRequired(cmd); err != nil || own == nil {
			return err
		}
		return own(cmd, args)
	}
}
