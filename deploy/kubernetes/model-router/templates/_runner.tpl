{{/*
The values of the batch runner. It has requests served and stores files as the ingress does, so the settings of the ingress for these
tasks apply to it, unless it has its own. Returns JSON.
*/}}
{{- define "model-router.runner" -}}
{{- $timeouts := "(QUEUE|NO_WORKER|FIRST_TOKEN|IDLE|TOTAL)_TIMEOUT_MS" -}}
{{- $bounds := "MAX_(BODY_BYTES|QUEUED)|KEEP_ALIVE_MS" -}}
{{- $names := printf "^((FILES?|RESPONSES|STORED|USAGE)_.+|%s|%s)$" $timeouts $bounds -}}
{{- $settings := dict -}}
{{- range $name, $value := .Values.ingress.settings -}}
{{- if regexMatch $names $name -}}{{- $_ := set $settings $name $value -}}{{- end -}}
{{- end -}}
{{- $shared := dict "settings" $settings "secrets" (deepCopy .Values.ingress.secrets) -}}
{{- mergeOverwrite $shared (deepCopy .Values.batchRunner) | toJson -}}
{{- end -}}
