{{/* The values of a group of workers merged over workerDefaults. Takes {root, group}. Returns JSON. */}}
{{- define "model-router.worker" -}}
{{- mergeOverwrite (deepCopy .root.Values.workerDefaults) .group | toJson -}}
{{- end -}}

{{/* Whether a group may reach the internet. Takes the merged group. Returns "true" or nothing. */}}
{{- define "model-router.worker-internet" -}}
{{- if hasKey . "internet" -}}
{{- if .internet -}}true{{- end -}}
{{- else if ne .tier "gpu" -}}true{{- end -}}
{{- end -}}
