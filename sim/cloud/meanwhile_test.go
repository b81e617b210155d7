// SPDX-License-Identifier: Apache-2.0

package cloud_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"minos.dev/minos/backend"
	"minos.dev/minos/sim/cloud"
	"minos.dev/minos/sim/cloud/cloudtest"
	"minos.dev/minos/sim/conduct"
)

// TestMeanwhile wants an instance that was deleted or died while it was made to stay so when its time has come.
func TestMeanwhile(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{Start: metav1.Duration{Duration: 50 * time.Millisecond}})
	c, rack := w.open()
	if err := c.Delete(t.Context(), owner, create(t, c, "deleted").ID); err != nil {
		t.Fatal(err)
	}
	create(t, c, "dead")
	if err := c.Kill("dead"); err != nil {
		t.Fatal(err)
	}
	create(t, c, "last")
	runs(t, c, "last") // whose time comes after that of the others
	if all := c.Instances(); len(all) != 2 || all[0].State != backend.Failed || c.Machine("dead") != nil || c.Machine("deleted") != nil {
		t.Errorf("there are %v", all)
	}
	if left := w.left(rack); len(left) != 5 {
		t.Errorf("there are not one machine, two disks and two addresses: %v", left)
	}
}

// TestDeletedBeforeItHasAnything deletes an instance of which there is nothing but the record.
func TestDeletedBeforeItHasAnything(t *testing.T) {
	w := newWorld(t, conduct.Behaviour{})
	options, rack := w.options()
	var c *cloud.Cloud
	options.Log = func(event cloud.Event) {
		if event.Message != "is made" {
			return
		}
		if err := c.Delete(t.Context(), owner, c.Instances()[0].ID); err != nil {
			t.Error(err)
		}
	}
	c, err := cloud.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Create(t.Context(), cloudtest.Machine(owner, "m")); backend.ReasonOf(err) != backend.Unavailable {
		t.Errorf("it returned %v", err)
	}
	if left := w.left(rack); len(left) > 0 || len(c.Instances()) > 0 {
		t.Errorf("there is something left: %v", left)
	}
	c.Close()
	if c, _ := w.open(); len(c.Instances()) > 0 {
		t.Errorf("the books tell of %v", c.Instances())
	}
}
