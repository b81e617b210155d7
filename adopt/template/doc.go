// SPDX-License-Identifier: Apache-2.0

// Package template renders the templates of other tools: Go's text/template with those functions of the sprig library that
// people use for machine configurations. A template is somebody else's program, so it gets no file, no program, no clock,
// no randomness and no variable that was not handed to it; it ends, and what it writes is bounded.
package template
