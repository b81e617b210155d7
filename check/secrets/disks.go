// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"reflect"
	"strings"

	talosconfig "github.com/siderolabs/talos/pkg/machinery/config/config"

	api "minos.dev/minos/api/v1alpha1"
	"minos.dev/minos/check/facts"
	"minos.dev/minos/check/rule"
)

// The volumes of Talos that hold secrets.
const (
	stateVolume     = "STATE"
	ephemeralVolume = "EPHEMERAL"
)

// encryptionOf is how a system volume is encrypted, by the old field or the new document; nil if it is not.
func encryptionOf(machine *facts.Machine, volume string) talosconfig.EncryptionConfig {
	if document, ok := machine.Config.Volumes().ByName(volume); ok && !isNil(document.Encryption()) {
		return document.Encryption()
	}
	if own := machine.Config.Machine(); own != nil && !isNil(own.SystemDiskEncryption()) {
		if old := own.SystemDiskEncryption().Get(volume); !isNil(old) {
			return old
		}
	}
	return nil
}

// isNil says whether an interface holds nothing, or a pointer to nothing.
func isNil(value any) bool {
	return value == nil || reflect.ValueOf(value).Kind() == reflect.Pointer && reflect.ValueOf(value).IsNil()
}

// encrypted wants the volumes of Talos to be encrypted.
func encrypted(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		var bare []string
		for _, volume := range []string{stateVolume, ephemeralVolume} {
			if encryptionOf(machine, volume) == nil {
				bare = append(bare, volume)
			}
		}
		if len(bare) > 0 {
			sheet.Fail(machine.DocumentAt("VolumeConfig", bare[0], "encryption"), "%s writes %s as it is", machine.Name, strings.Join(bare, " and "))
			return
		}
		sheet.Pass(machine.DocumentAt("VolumeConfig", stateVolume, "encryption"))
	})
}

// unlocked judges by what encrypted volumes are unlocked.
func unlocked(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		volumes := volumesOf(machine)
		if len(volumes) == 0 {
			return
		}
		fine := true
		for _, volume := range volumes {
			fine = volume.judge(machine, sheet) && fine
		}
		if fine {
			sheet.Pass(machine.DocumentAt("VolumeConfig", volumes[0].name, "encryption"))
		}
	})
}

// A volume is one that is encrypted.
type volume struct {
	kind, name string
	keys       []talosconfig.EncryptionKey
}

// volumesOf are the encrypted volumes of a machine.
func volumesOf(machine *facts.Machine) []volume {
	var found []volume
	add := func(kind, name string, encryption talosconfig.EncryptionConfig) {
		if !isNil(encryption) {
			found = append(found, volume{kind, name, encryption.Keys()})
		}
	}
	for _, name := range []string{stateVolume, ephemeralVolume} {
		add("VolumeConfig", name, encryptionOf(machine, name))
	}
	for _, one := range machine.Config.UserVolumeConfigs() {
		add("UserVolumeConfig", one.Name(), one.Encryption())
	}
	for _, one := range machine.Config.RawVolumeConfigs() {
		add("RawVolumeConfig", one.Name(), one.Encryption())
	}
	for _, one := range machine.Config.SwapVolumeConfigs() {
		add("SwapVolumeConfig", one.Name(), one.Encryption())
	}
	return found
}

// judge says what is wrong with the keys of a volume, and whether nothing is.
func (v volume) judge(machine *facts.Machine, sheet *rule.Sheet) bool {
	fine := true
	for _, key := range v.keys {
		fine = v.judgeKey(key, machine, sheet) && fine
	}
	// Keys can be locked to STATE from 1.11 on: the field lockToState came with it.
	if v.name != stateVolume && !v.locked() && !machine.Before("1.11") && encryptionOf(machine, stateVolume) != nil {
		fine = false
		sheet.FailAs(rule.Warning, machine.DocumentAt(v.kind, v.name, "encryption.keys"), "%s of %s opens with any STATE, also one that somebody put in place of its own", v.name, machine.Name)
	}
	return fine
}

// judgeKey says what is wrong with one key, and whether nothing is.
func (v volume) judgeKey(key talosconfig.EncryptionKey, machine *facts.Machine, sheet *rule.Sheet) bool {
	place := machine.DocumentAt(v.kind, v.name, "encryption.keys")
	switch {
	case !isNil(key.TPM()):
		return v.judgeTPM(machine, sheet)
	case v.name != stateVolume:
	case !isNil(key.Static()):
		sheet.Fail(place, "STATE of %s is encrypted with a key that lies on the same disk as it is: whoever takes the disk has both", machine.Name)
		return false
	case !isNil(key.KMS()) && needsOwnNetwork(machine) != "":
		sheet.Fail(place, "STATE of %s is unlocked over the network, and %s stands on STATE: the machine never boots again", machine.Name, needsOwnNetwork(machine))
		return false
	}
	return true
}

// locked says whether a volume opens with its own STATE only.
func (v volume) locked() bool {
	for _, key := range v.keys {
		if key.LockToSTATE() {
			return true
		}
	}
	return len(v.keys) == 0
}

// judgeTPM wants SecureBoot where the TPM keeps the key.
func (v volume) judgeTPM(machine *facts.Machine, sheet *rule.Sheet) bool {
	place := machine.DocumentAt(v.kind, v.name, "encryption.keys")
	switch secure, known := secureBoot(machine); {
	case !known:
		sheet.Unknown(place, "%s of %s is unlocked by the TPM, and whether the machine boots with SecureBoot is not known", v.name, machine.Name)
	case !secure:
		sheet.Fail(place, "%s of %s is unlocked by the TPM without SecureBoot: the TPM gives the key to any system, or Talos refuses to start", v.name, machine.Name)
	default:
		return true
	}
	return false
}

// secureBoot says whether a machine boots with SecureBoot, and whether that is known.
func secureBoot(machine *facts.Machine) (secure, known bool) {
	if machine.Pool != nil && machine.Pool.Object.Spec.Machine.Metal != nil {
		return machine.Pool.Object.Spec.Machine.Metal.SecureBoot == api.SecureBootEnabled, true
	}
	image := machine.InstallImage()
	return strings.Contains(image, "installer-secureboot"), image != ""
}

// needsOwnNetwork says what a machine needs of its own configuration to reach a key server; empty if nothing.
func needsOwnNetwork(machine *facts.Machine) string {
	switch {
	case len(machine.Addresses()) > 0:
		return "its address"
	case len(machine.Config.TrustedRoots().ExtraTrustedRootCertificates()) > 0:
		return "the authority that it trusts"
	}
	return ""
}

// signedBoot wants the installer to fit SecureBoot.
func signedBoot(all *facts.Facts, sheet *rule.Sheet) {
	each(all, sheet, func(machine *facts.Machine) {
		image := machine.InstallImage()
		installs := strings.Contains(image, "installer-secureboot")
		wanted, why := wantsSecureBoot(machine, all.Schematics)
		switch place := machine.At("machine.install.image"); {
		case image == "" || !wanted && why == "" && !installs:
		case why == "":
			sheet.Unknown(place, "%s is installed with SecureBoot, and from which image it boots at first is not known", machine.Name)
		case wanted == installs:
			sheet.Pass(place)
		case wanted:
			sheet.Fail(place, "%s is to boot with SecureBoot (%s), and is installed from %s, which is not signed", machine.Name, why, image)
		default:
			sheet.Fail(place, "%s is to boot without SecureBoot (%s), and is installed from %s", machine.Name, why, image)
		}
	})
}

// wantsSecureBoot says whether a machine is to boot with SecureBoot, and what says so; nothing if nothing does.
func wantsSecureBoot(machine *facts.Machine, schematics []*facts.SchematicFact) (wanted bool, why string) {
	if machine.Pool != nil && machine.Pool.Object.Spec.Machine.Metal != nil {
		return machine.Pool.Object.Spec.Machine.Metal.SecureBoot == api.SecureBootEnabled, "its pool says so"
	}
	for _, schematic := range schematics {
		if schematic.Content == nil || !strings.Contains(machine.InstallImage(), schematic.ID) || schematic.ID == "" {
			continue
		}
		if custom := schematic.Content.Customization.SecureBoot; custom.IncludeWellKnownCertificates || custom.EnrollKeys != "" {
			return true, "its schematic has settings for it"
		}
	}
	return false, ""
}
