{{/*
The values of the batch runner. It has requests served and stores files as the ingress does, so the settings of the ingress for these
tasks apply to it, unless it has its own. Returns JSON.
*/}}
{{- define "model-router.runner" -}}
{{- $timeouts := "(QUEUE|NO_WORKER|FIRST_TOKEN|IDLE|TOTAL|SILENCE|BROKER)_TIMEOUT_MS" -}}
{{- $bounds := "MAX_(BODY_BYTES|QUEUED|ATTEMPTS)|SPILL_MS|KEEP_ALIVE_MS|CONTINUE_BYTES" -}}
{{- $names := printf "^((FILES?|RESPONSES|USAGE|AGENT_SESSIONS|BATCHES|BACKGROUND)_.+|%s|%s)$" $timeouts $bounds -}}
{{- $settings := dict -}}
{{- range $name, $value := .Values.ingress.settings -}}
{{- if regexMatch $names $name -}}{{- $_ := set $settings $name $value -}}{{- end -}}
{{- end -}}
{{- $shared := dict "settings" $settings "secrets" (deepCopy .Values.ingress.secrets) -}}
{{- mergeOverwrite $shared (deepCopy .Values.batchRunner) | toJson -}}
{{- end -}}
