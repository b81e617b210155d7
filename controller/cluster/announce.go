// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/hosted"
	"minos.dev/minos/plan/names"
)

// Reasons of moments that show in no condition.
const (
	momentBorn     = "Born"
	momentUpgrades = "Upgrades"
	momentRenewed  = "Renewed"
	momentRefused  = "CertificateRefused"
	momentDeleted  = "Deleted"
)

// announce tells people of moments. Events that differ in their words only are taken for one that happened again: what renewals and
// refusals are about is in the action.
func (t *turn) announce(moments ...hosted.Moment) {
	for _, moment := range moments {
		t.event(moment, moment.Reason)
	}
}

// event tells people of one.
func (t *turn) event(moment hosted.Moment, action string) {
	if t.Events == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if moment.Warning {
		kind = corev1.EventTypeWarning
	}
	t.Events.Eventf(t.cluster, nil, kind, moment.Reason, action, "%s", moment.Message)
}

// upgrades tells that the control plane was asked for another version than before.
func (t *turn) upgrades(next api.KubernetesVersion) {
	if before := "v" + strings.TrimPrefix(t.view.Asked, "v"); t.view.Asked != "" && before != string(next) {
		t.announce(hosted.Moment{Reason: momentUpgrades, Message: fmt.Sprintf("Kubernetes goes from %s to %s; %s is wanted", before, next, t.cluster.Spec.KubernetesVersion)})
	}
}

// A renewal is a certificate that was made.
type renewal struct {
	what  string
	again bool // there was one before
	until time.Time
	why   string
}

// renewed notes when a new certificate expires, and tells people if it is not the first.
func (t *turn) renewed(made renewal) {
	t.expires(made.what, made.until)
	if made.again {
		t.event(hosted.Moment{Reason: momentRenewed, Message: fmt.Sprintf("the certificate of %s was renewed until %s: %s", made.what, made.until.UTC().Format(time.RFC3339), made.why)},
			"Renew-"+made.what)
	}
}

// invitedUntil notes when the first bootstrap token expires, and tells people which were renewed.
func (t *turn) invitedUntil(plan hosted.TokenPlan, live []corev1.Secret) {
	var first time.Time
	for _, until := range plan.Until {
		if first.IsZero() || until.Before(first) {
			first = until
		}
	}
	t.expires(metrics.ExpiryBootstrapToken, first)
	var renewed []string
	for _, secret := range plan.Write {
		if slices.ContainsFunc(live, func(was corev1.Secret) bool { return was.Name == secret.Name }) {
			renewed = append(renewed, secret.Labels[names.LabelPool])
		}
	}
	if len(renewed) > 0 {
		slices.Sort(renewed)
		t.event(hosted.Moment{Reason: momentRenewed, Message: fmt.Sprintf("bootstrap tokens were renewed: those of the pools %s", strings.Join(renewed, ", "))},
			"Renew-"+metrics.ExpiryBootstrapToken)
	}
}

// gone says what went last.
func gone(last hosted.Removal, left hosted.Remains) string {
	text := "nothing of the cluster is left"
	if len(last.Secrets) > 0 {
		text += "; the last were the Secrets " + strings.Join(last.Secrets, ", ")
	}
	if left.TokensError != "" {
		text += "; bootstrap tokens in its API server were left to expire: " + left.TokensError
	}
	return text
}

// expires notes when something expires. Zero is that there is nothing.
func (t *turn) expires(what string, when time.Time) {
	if t.measured.Expiry == nil {
		t.measured.Expiry = map[string]time.Time{}
	}
	t.measured.Expiry[what] = when
}

// measure hands over what was seen of the cluster.
func (t *turn) measure(ctx context.Context) {
	if t.Metrics == nil {
		return
	}
	if t.cluster.Spec.ControlPlane.Kamaji != nil {
		t.authorityExpires(ctx)
	}
	t.measured.Reachable = reachable(t.report.Conditions)
	t.Metrics.Cluster(client.ObjectKeyFromObject(t.cluster), t.measured)
}

// authorityExpires notes when the authority of a hosted cluster does. What cannot be read now stays as it was known.
func (t *turn) authorityExpires(ctx context.Context) {
	secret, err := t.read(ctx, names.KubernetesCA(t.cluster))
	if err != nil || secret == nil {
		return
	}
	if found := certificate(secret.Data[corev1.TLSCertKey]); found != nil {
		t.expires(metrics.ExpiryKubernetesAuthority, found.NotAfter)
	}
}

// reachable says whether a tenant's API server answers; nil if it was not asked. One that refuses answers.
func reachable(conditions []metav1.Condition) *bool {
	seen := meta.FindStatusCondition(conditions, api.ConditionTenantReady)
	if seen == nil {
		return nil
	}
	answers := seen.Status == metav1.ConditionTrue || seen.Reason == api.ReasonFailed
	if answers || seen.Reason == api.ReasonUnreadable {
		return &answers
	}
	return nil
}

// forget drops what is remembered of a cluster that is gone.
func (r *Reconciler) forget(cluster types.NamespacedName) {
	r.Tenants.Forget(&api.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name}})
	r.Metrics.ForgetCluster(cluster)
	r.left.forget(cluster)
}
