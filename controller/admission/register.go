// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"minos.dev/minos/controller/apply"
	"minos.dev/minos/controller/metrics"
	"minos.dev/minos/plan/names"
)

// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=get;create;patch

// path is where the guard answers.
const path = "/validate"

// Options say how the API server reaches the guard.
type Options struct {
	// Client reads and writes the management cluster, past any cache.
	Client client.Client
	// Namespace is the operator's own, in which the certificate is kept.
	Namespace string
	// Service is the Service in that namespace by which the API server calls. Empty means by address, for an operator that runs
	// beside the API server on one machine.
	Service string
	// Listen is where the guard listens, for example :9443.
	Listen string
	// Now is the clock.
	Now func() time.Time
	// RefusedRules are the rules of minos check whose errors refuse a change.
	RefusedRules []string
	// Metrics takes what is answered, and when the certificate expires; nil takes nothing.
	Metrics *metrics.Metrics
}

// A Door is the webhook before it has a manager.
type Door struct {
	options Options
	keeper  *Keeper
	host    string
	port    int
}

// NewDoor prepares the webhook.
func NewDoor(options Options) (*Door, error) {
	host, text, err := net.SplitHostPort(options.Listen)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	d := &Door{options: options, host: host, port: port}
	d.keeper = &Keeper{
		Client: options.Client, Secret: client.ObjectKey{Namespace: options.Namespace, Name: "minos-admission"}, Names: d.names(), Now: options.Now,
		Trust: d.trust, Metrics: options.Metrics,
	}
	return d, nil
}

// names are those by which the API server calls.
func (d *Door) names() []string {
	if d.options.Service == "" {
		return []string{d.host}
	}
	return []string{d.options.Service + "." + d.options.Namespace + ".svc", d.options.Service + "." + d.options.Namespace + ".svc.cluster.local"}
}

// Server is what listens, for the manager.
func (d *Door) Server() webhook.Server {
	return webhook.NewServer(webhook.Options{Host: d.host, Port: d.port, TLSOpts: []func(*tls.Config){func(settings *tls.Config) {
		settings.GetCertificate, settings.MinVersion = d.keeper.Certificate, tls.VersionTLS12
	}}})
}

// Open has the guard answer. The certificate is there before the manager starts, or nobody could call.
func (d *Door) Open(ctx context.Context, mgr ctrl.Manager) error {
	if err := d.keeper.Ensure(ctx); err != nil {
		return err
	}
	guard := &Guard{Client: mgr.GetClient(), Decoder: admission.NewDecoder(mgr.GetScheme()), Now: d.options.Now, RefusedRules: d.options.RefusedRules, Metrics: d.options.Metrics}
	mgr.GetWebhookServer().Register(path, &webhook.Admission{Handler: guard})
	return mgr.Add(d.keeper)
}

// trust tells the API server where the guard is, what to ask it, and whom to trust.
func (d *Door) trust(ctx context.Context, authorities []byte) error {
	where := admissionregistrationv1.WebhookClientConfig{CABundle: authorities}
	if d.options.Service == "" {
		url := "https://" + net.JoinHostPort(d.host, strconv.Itoa(d.port)) + path
		where.URL = &url
	} else {
		at, port := path, int32(443)
		where.Service = &admissionregistrationv1.ServiceReference{Namespace: d.options.Namespace, Name: d.options.Service, Path: &at, Port: &port}
	}
	_, err := apply.New(d.options.Client).Apply(ctx, configuration(where))
	return err
}

// configuration is what the API server asks. It goes on without an answer: the promises hold without the guard.
func configuration(where admissionregistrationv1.WebhookClientConfig) *admissionregistrationv1.ValidatingWebhookConfiguration {
	ignore, none, seconds := admissionregistrationv1.Ignore, admissionregistrationv1.SideEffectClassNone, int32(5)
	match, all := admissionregistrationv1.Equivalent, admissionregistrationv1.AllScopes
	rule := func(resource string, operations ...admissionregistrationv1.OperationType) admissionregistrationv1.RuleWithOperations {
		return admissionregistrationv1.RuleWithOperations{
			Operations: operations,
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"minos.dev"}, APIVersions: []string{"v1alpha1"}, Resources: []string{resource}, Scope: &all},
		}
	}
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "minos", Labels: map[string]string{names.LabelManagedBy: names.Owner}},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "guard.minos.dev", ClientConfig: where, FailurePolicy: &ignore, SideEffects: &none, TimeoutSeconds: &seconds, MatchPolicy: &match,
			AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector:       &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
			Rules: []admissionregistrationv1.RuleWithOperations{
				rule("talosclusters", admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete),
				rule("nodepools", admissionregistrationv1.Create, admissionregistrationv1.Update),
				rule("nodepools/scale", admissionregistrationv1.Update),
				rule("noderoles", admissionregistrationv1.Update),
				rule("locations", admissionregistrationv1.Update, admissionregistrationv1.Delete),
				rule("clusterlocations", admissionregistrationv1.Update, admissionregistrationv1.Delete),
			},
		}},
	}
}
