#!/usr/bin/env bash
# get-kubernetes-tools: helm, kubeconform and the descriptions of all objects of the chart, for its tests.
#
#   test/helpers/deploy/get-kubernetes-tools.sh          installs what is missing, and prints the folder
#   test/helpers/deploy/get-kubernetes-tools.sh --look   prints the folder if it is complete, else nothing
#
# Everything comes as Go modules: the programs are compiled, which takes some minutes once, and the OpenAPI description of
# Kubernetes and the CRDs of KEDA, the Gateway API and Prometheus' operator are files of their modules. The user's cache keeps it
# for every copy of the project. Without Go or a module proxy the script says so and exits 0; the tests are then skipped.
set -euo pipefail

helm=v4.3.1
kubeconform=v0.8.0
kubernetes=v1.36.3
keda=v2.21.0
gateway=v1.6.0
prometheus=v0.85.0

say() { printf 'get-kubernetes-tools: %s\n' "$*" >&2; }
skip() { say "$*: the chart's tests will be skipped"; exit 0; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/model-router/kubernetes-tools/$helm-$kubeconform-$kubernetes-$keda-$gateway-$prometheus
if [ -f "$cache/complete" ]; then echo "$cache"; exit 0; fi
if [ "${1-}" = --look ]; then exit 0; fi

command -v go >/dev/null || skip 'there is no Go here'
mkdir -p "$cache/crds"

# The folder of a module's files.
module() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p'; }

say 'fetching the descriptions of objects'
folder=$(module "k8s.io/kubernetes@$kubernetes") || skip 'the Go module proxy cannot be reached'
install -m 644 "$folder/api/openapi-spec/swagger.json" "$cache/kubernetes.json"
folder=$(module "github.com/kedacore/keda/v2@$keda") || skip 'the module of KEDA cannot be had'
install -m 644 "$folder/config/crd/bases/keda.sh_scaledobjects.yaml" "$cache/crds"
folder=$(module "sigs.k8s.io/gateway-api@$gateway") || skip 'the module of the Gateway API cannot be had'
install -m 644 "$folder/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml" "$cache/crds"
folder=$(module "github.com/prometheus-operator/prometheus-operator@$prometheus") || skip "the module of Prometheus' operator cannot be had"
for kind in servicemonitors podmonitors prometheusrules; do
  install -m 644 "$folder/example/prometheus-operator-crd/monitoring.coreos.com_$kind.yaml" "$cache/crds"
done

say 'compiling kubeconform and helm, which takes some minutes'
export GOBIN=$cache
nice go install "github.com/yannh/kubeconform/cmd/kubeconform@$kubeconform" || skip 'kubeconform cannot be compiled'
nice go install "helm.sh/helm/v4/cmd/helm@$helm" || skip 'helm cannot be compiled'
touch "$cache/complete"
echo "$cache"
