// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"regexp"
	"strings"

	"minos.dev/minos/adopt/patch"
	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/talos/redact"
)

// liftServices turns configurations of extension services into those of the role. Values that were encrypted go to a Secret
// of the service's name; only roles can have them so.
func (p *pool) liftServices(hidden []string, values map[api.SecretKeyReference]string) {
	secret := false
	for _, step := range p.steps {
		secret = secret || step.Hidden
	}
	if len(p.role.spec.Extensions) == 0 && !secret { // the role is most likely a built-in one, and stays so
		return
	}
	p.steps = lift(p.steps, func(fields patch.Document, step Step) {
		r := &serviceReader{hidden: hidden, sealed: step.sealed, secrets: map[api.SecretKeyReference]string{}}
		service, secrets := r.read(fields), r.secrets
		if service == nil {
			return
		}
		for reference, value := range secrets {
			if other, taken := values[reference]; taken && other != value {
				return // another pool has another secret of this name
			}
		}
		for reference, value := range secrets {
			values[reference] = value
		}
		p.role.spec.Services = append(p.role.spec.Services, *service)
		p.from.add("services", step.comment())
		empty(fields)
	})
}

// variableForm is what our kinds take for the name of a variable.
var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// A serviceReader reads the configuration of a service.
type serviceReader struct {
	service api.ExtensionService
	hidden  []string
	sealed  bool                              // everything was encrypted
	secrets map[api.SecretKeyReference]string // what is to be in a Secret
}

// read reads the configuration of a service, with the values that are to be in a Secret; nil if our kinds cannot say it.
func (r *serviceReader) read(fields patch.Document) *api.ExtensionService {
	name := text(fields, "name")
	if fields["kind"] != "ExtensionServiceConfig" || !within(fields, "apiVersion", "kind", "name", "environment", "configFiles") || label(name, longestHost) != name {
		return nil
	}
	r.service.Name = api.Name(name)
	if !r.environment(fields) || !r.files(fields) {
		return nil
	}
	return &r.service
}

// isSecret says whether a value belongs into a Secret.
func (r *serviceReader) isSecret(value string) bool { return r.sealed || holds(value, r.hidden) }

// from is where a value comes from.
func (r *serviceReader) from(key, value string) api.ValueSource {
	if !r.isSecret(value) {
		return api.ValueSource{Value: value}
	}
	reference := api.SecretKeyReference{Name: r.service.Name, Key: key}
	r.secrets[reference] = value
	return api.ValueSource{Secret: &reference}
}

// environment reads the variables, and says whether our kinds can say them.
func (r *serviceReader) environment(fields patch.Document) bool {
	for _, variable := range texts(fields["environment"]) {
		key, value, ok := strings.Cut(variable, "=")
		if !ok || value == "" || !variableForm.MatchString(key) || r.unfit(variable) {
			return false
		}
		r.service.Environment = append(r.service.Environment, api.ServiceVariable{Name: key, From: r.from(key, value)})
	}
	return true
}

// files reads the files, and says whether our kinds can say them.
func (r *serviceReader) files(fields patch.Document) bool {
	files, _ := fields["configFiles"].([]any)
	for _, item := range files {
		file, _ := item.(patch.Document)
		path, content := text(file, "mountPath"), text(file, "content")
		if len(file) != 2 || content == "" || !strings.HasPrefix(path, "/") || r.unfit(content) {
			return false
		}
		r.service.Files = append(r.service.Files, api.ServiceFile{Path: path, From: r.from(label(path, longestHost), content)})
	}
	return true
}

// unfit says whether a value is too long for a role, or looks like a secret that was readable before: a role must not hold
// it, and it stays where it was.
func (r *serviceReader) unfit(value string) bool {
	const longestValue = 16384
	return len(value) > longestValue || redact.Find(value) != "" && !r.isSecret(value)
}
