{{- /*
What a chart of an agent puts into its pods. It has this chart as a dependency, and hands over its context:

  {{- $gate := index .Subcharts "gate-sidecar" }}
  template:
    metadata:
      labels:
        {{- include "gate-sidecar.podLabels" $gate | nindent 8 }}
    spec:
      enableServiceLinks: false
      securityContext:
        fsGroup: 1000
      initContainers:
        {{- include "gate-sidecar.container" $gate | nindent 8 }}
      volumes:
        {{- include "gate-sidecar.volumes" $gate | nindent 8 }}

No service link: variables of a Service named gate-sidecar-… look like settings. The fsGroup makes the secrets readable.
*/}}

{{- /* Selected by the NetworkPolicy. */}}
{{- define "gate-sidecar.podLabels" -}}
gate-sidecar: enabled
{{- end }}

{{- /* A native sidecar: it starts before the agent, and ends after it. */}}
{{- define "gate-sidecar.container" -}}
- name: gate-sidecar
  image: {{ include "gate-sidecar.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  restartPolicy: Always
  env:
    # Loopback: no other pod reaches it.
    - name: GATE_SIDECAR_HOST
      value: 127.0.0.1
    - name: GATE_SIDECAR_STORE
      value: {{ .Values.store.url | quote }}
    - name: GATE_SIDECAR_STORE_PASSWORD
      value: /run/secrets/gate-sidecar/store-password
    {{- if .Values.signs }}
    - name: GATE_SIDECAR_SIGNING_KEY
      value: /run/secrets/gate-sidecar/signing-key
    {{- else }}
    - name: GATE_SIDECAR_SEAL_KEY
      value: /run/secrets/gate-sidecar/seal-key
    {{- end }}
    # Not the folder of the image, which has examples for other tenants.
    - name: GATE_SIDECAR_POLICIES
      value: /etc/gate-sidecar/policies
    # A folder in the volume, which every user may write.
    - name: GATE_SIDECAR_DATA
      value: /data/gate-sidecar
    # The agent has ended by then.
    - name: GATE_SIDECAR_STOP_DELAY
      value: "off"
    {{- range $name, $value := .Values.settings }}
    - name: GATE_SIDECAR_{{ $name | snakecase | upper }}
      value: {{ $value | quote }}
    {{- end }}
  # The agent starts once the sidecar decides.
  startupProbe:
    exec:
      command: [gate-sidecar, health]
    periodSeconds: 2
    timeoutSeconds: 5
    failureThreshold: 60
  readinessProbe:
    exec:
      command: [gate-sidecar, health]
    periodSeconds: 10
    timeoutSeconds: 5
  # Liveness alone restarts it: a stop that the store did not take may be in memory only.
  livenessProbe:
    exec:
      command: [gate-sidecar, health, --live]
    periodSeconds: 20
    timeoutSeconds: 5
    failureThreshold: 3
  securityContext:
    {{- include "gate-sidecar.confined" . | nindent 4 }}
  resources:
    {{- toYaml .Values.resources | nindent 4 }}
  volumeMounts:
    {{- range $tenant, $files := .Values.policies }}
    - name: gate-sidecar-policies-{{ $tenant }}
      mountPath: /etc/gate-sidecar/policies/{{ $tenant }}
      readOnly: true
    {{- end }}
    - name: gate-sidecar-secrets
      mountPath: /run/secrets/gate-sidecar
      readOnly: true
    - name: gate-sidecar-data
      mountPath: /data
{{- end }}

{{- define "gate-sidecar.volumes" -}}
{{- range $tenant, $files := .Values.policies }}
- name: gate-sidecar-policies-{{ $tenant }}
  configMap:
    name: {{ include "gate-sidecar.fullname" $ }}-policies-{{ $tenant }}
{{- end }}
- name: gate-sidecar-secrets
  secret:
    secretName: {{ .Values.secretName }}
    defaultMode: 288 # 0440: a secret that every user can read is refused.
# Stops that wait for the store. It survives a restart of the container, not the end of the pod.
- name: gate-sidecar-data
  emptyDir:
    sizeLimit: 64Mi
{{- end }}
