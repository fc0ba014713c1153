{{/* The prefix of every object's name: the release and the chart. */}}
{{- define "model-router.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 35 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 35 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The image of all components. */}}
{{- define "model-router.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels that select pods. They never change during a release's life. Takes {root, component, worker?}. */}}
{{- define "model-router.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .worker }}
model-router/worker: {{ . }}
{{- end }}
{{- end -}}

{{/* All labels of an object. Takes {root, component, worker?}. */}}
{{- define "model-router.labels" -}}
{{ include "model-router.selector" . }}
app.kubernetes.io/part-of: model-router
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The address of the ingress's admin port, where /load reports the load of the whole cluster. */}}
{{- define "model-router.admin-url" -}}
http://{{ include "model-router.name" . }}-ingress-admin.{{ .Release.Namespace }}.svc:8485
{{- end -}}
