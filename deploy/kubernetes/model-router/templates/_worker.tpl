{{/* What a group of workers says, with what all groups have by default. Takes {root, group}. Gives JSON. */}}
{{- define "model-router.worker" -}}
{{- mergeOverwrite (deepCopy .root.Values.workerDefaults) .group | toJson -}}
{{- end -}}

{{/* Whether a group may reach the internet. Takes the merged group. Gives "true" or nothing. */}}
{{- define "model-router.worker-internet" -}}
{{- if hasKey . "internet" -}}
{{- if .internet -}}true{{- end -}}
{{- else if ne .tier "gpu" -}}true{{- end -}}
{{- end -}}
