{{/* An egress rule of a NetworkPolicy for TCP. Takes {to, ports}. If `to` is empty, the rule allows any destination. */}}
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
