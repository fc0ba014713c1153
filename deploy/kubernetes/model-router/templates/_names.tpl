{{/* The first part of every object's name: the release, and what it is a release of. */}}
{{- define "model-router.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 35 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 35 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What all parts run. */}}
{{- define "model-router.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels that choose pods. They never change in the life of a release. Takes {root, component, worker?}. */}}
{{- define "model-router.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- with .worker }}
model-router/worker: {{ . }}
{{- end }}
{{- end -}}

{{/* All labels of an object. Takes the same. */}}
{{- define "model-router.labels" -}}
{{ include "model-router.selector" . }}
app.kubernetes.io/part-of: model-router
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The address of the ingress's admin port, where /load tells the whole cluster's load. */}}
{{- define "model-router.admin-url" -}}
http://{{ include "model-router.name" . }}-ingress-admin.{{ .Release.Namespace }}.svc:8485
{{- end -}}
