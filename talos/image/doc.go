// SPDX-License-Identifier: Apache-2.0

// Package image knows the image of a role: its schematic and the identity that the Image Factory computes from it, the
// references under which a factory serves it, the profile with which Talos's imager builds it, and the matrix with which a
// pipeline builds all of them.
//
// A role decides what is in an image (extensions, kernel arguments); a release, a platform and an architecture decide
// which file of it is meant. A schematic is public and addressed by its content, so that nothing secret may be in it.
package image
