{{- define "seedmend.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Short enough for the suffixes that are put behind it. */}}
{{- define "seedmend.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "seedmend.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "seedmend.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "seedmend.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (include "seedmend.fullname" .) }}
{{- else }}
{{- .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{- define "seedmend.selector" -}}
app.kubernetes.io/name: {{ include "seedmend.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "seedmend.labels" -}}
{{ include "seedmend.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* A ClusterRole is seen by every release of the cluster. */}}
{{- define "seedmend.clusterName" -}}
{{- printf "%s-%s" .Release.Namespace (include "seedmend.fullname" .) }}
{{- end }}
