#!/bin/sh
talosctl apply-config --nodes 192.168.1.10 --file controlplane.yaml
talosctl apply-config --nodes 192.168.1.11 --file worker.yaml
