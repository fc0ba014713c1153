{{/* The value of a setting as text. Helm may read a number in a values file as a float, which would print as 2.68e+08. */}}
{{- define "model-router.text" -}}
{{- if kindIs "float64" . -}}{{ printf "%.0f" . }}{{- else -}}{{ toString . }}{{- end -}}
{{- end -}}

{{/*
Settings of a component as environment variables, sorted. The component's own values override the common ones, which override the
chart's. Takes {root, part, common, chart}: `part` with settings, secrets, natsCredentials.
*/}}
{{- define "model-router.env" -}}
{{- $env := dict "NATS_URL" .root.Values.nats.url -}}
{{- if .part.natsCredentials -}}{{- $_ := set $env "NATS_CREDENTIALS" "/etc/rtr/nats/nats.creds" -}}{{- end -}}
{{- if .root.Values.nats.caSecret -}}{{- $_ := set $env "NATS_CA" "/etc/rtr/nats-ca/ca.crt" -}}{{- end -}}
{{- range $name, $_ := .part.secrets -}}
{{- $_ := set $env (printf "%s_FILE" $name) (printf "/etc/rtr/secrets/%s/value" $name) -}}
{{- end -}}
{{- $env = mergeOverwrite $env .chart .common (.part.settings | default dict) -}}
{{- $list := list -}}
{{- range $name, $value := $env -}}
{{- $list = append $list (dict "name" $name "value" (include "model-router.text" $value)) -}}
{{- end -}}
{{- toYaml $list -}}
{{- end -}}

{{- define "model-router.redis-env" -}}
{{- $env := dict -}}
{{- with .Values.redis -}}
{{- if .urlSecret -}}
{{- $_ := set $env "REDIS_URL_FILE" "/etc/rtr/redis/url" -}}
{{- else -}}
{{- $_ := set $env "REDIS_URL" (required "redis.urlSecret or redis.url must say where Redis is" .url) -}}
{{- end -}}
{{- if .caSecret -}}{{- $_ := set $env "REDIS_CA" "/etc/rtr/redis-ca/ca.crt" -}}{{- end -}}
{{- end -}}
{{- toJson $env -}}
{{- end -}}

{{/* One file of a secret as a volume. Takes {name, secret: {name, key}, file}. */}}
{{- define "model-router.secret-volume" -}}
- name: {{ .name }}
  secret:
    secretName: {{ .secret.name }}
    # 0440: readable by the pod's group only.
    defaultMode: 288
    items:
      - { key: {{ .secret.key | quote }}, path: {{ .file }} }
{{- end -}}

{{/* The volumes that settings refer to. Takes {root, part, redis}. */}}
{{- define "model-router.volumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
{{- with .part.natsCredentials }}
{{ include "model-router.secret-volume" (dict "name" "nats" "secret" . "file" "nats.creds") }}
{{- end }}
{{- with .root.Values.nats.caSecret }}
{{ include "model-router.secret-volume" (dict "name" "nats-ca" "secret" . "file" "ca.crt") }}
{{- end }}
{{- if .redis }}
{{- with .root.Values.redis.urlSecret }}
{{ include "model-router.secret-volume" (dict "name" "redis" "secret" . "file" "url") }}
{{- end }}
{{- with .root.Values.redis.caSecret }}
{{ include "model-router.secret-volume" (dict "name" "redis-ca" "secret" . "file" "ca.crt") }}
{{- end }}
{{- end }}
{{- range $name, $secret := .part.secrets }}
{{ include "model-router.secret-volume" (dict "name" (printf "secret-%s" ($name | lower | replace "_" "-")) "secret" $secret "file" "value") }}
{{- end }}
{{- end -}}

{{/* The mounts of the volumes that settings refer to. Takes {root, part, redis}. */}}
{{- define "model-router.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .part.natsCredentials }}
- { name: nats, mountPath: /etc/rtr/nats, readOnly: true }
{{- end }}
{{- if .root.Values.nats.caSecret }}
- { name: nats-ca, mountPath: /etc/rtr/nats-ca, readOnly: true }
{{- end }}
{{- if .redis }}
{{- if .root.Values.redis.urlSecret }}
- { name: redis, mountPath: /etc/rtr/redis, readOnly: true }
{{- end }}
{{- if .root.Values.redis.caSecret }}
- { name: redis-ca, mountPath: /etc/rtr/redis-ca, readOnly: true }
{{- end }}
{{- end }}
{{- range $name, $_ := .part.secrets }}
- { name: secret-{{ $name | lower | replace "_" "-" }}, mountPath: /etc/rtr/secrets/{{ $name }}, readOnly: true }
{{- end }}
{{- end -}}

{{/* Common to all pods: the restricted Pod Security Standard, and no token for the API server, which no component uses. */}}
{{- define "model-router.pod" -}}
serviceAccountName: {{ include "model-router.name" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "model-router.container-security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/*
Probes of a component, on its admin port. Starting may take a minute, because NATS and Redis may start at the same time. An ingress is
ready until it drains, even while a dependency is down, because it still serves some requests and refuses the others. A worker is ready
while it takes jobs. A dependency that is down restarts neither of them, because both reconnect.
*/}}
{{- define "model-router.probes" -}}
startupProbe:
  httpGet: { path: /live, port: admin }
  periodSeconds: 1
  failureThreshold: 90
readinessProbe:
  httpGet: { path: /health, port: admin }
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
livenessProbe:
  httpGet: { path: /live, port: admin }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{/* Spreads the pods of a group over zones and nodes where possible. Takes the pod's selector. */}}
{{- define "model-router.spread" -}}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $ | nindent 8 }}
  {{- end }}
{{- end -}}
