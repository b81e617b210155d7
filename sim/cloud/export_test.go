// SPDX-License-Identifier: Apache-2.0

package cloud

// ErrStopped is what a kill returns.
var ErrStopped = errStopped

// CutBy returns options of a cloud that is cut off before a step when the function says so.
func CutBy(options Options, cut func(step string) error) Options {
	options.cut = cut
	return options
}
