{{/* An egress rule of a NetworkPolicy for TCP. Takes {to, ports}; to anywhere when `to` is empty. */}}
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
