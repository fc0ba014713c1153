{{/* A rule of a NetworkPolicy that lets TCP out. Takes {to, ports}; anywhere when `to` is empty. */}}
{{- define "model-router.reach" -}}
{{- with .to -}}
to:
  {{- toYaml . | nindent 2 }}
{{ end -}}
ports:
  {{- range .ports }}
  - { protocol: TCP, port: {{ . }} }
  {{- end }}
{{- end -}}
