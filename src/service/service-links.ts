/**
 * Variables that Kubernetes (and Docker links) set in each container of a namespace that has a Service called
 * gate-sidecar. They are not settings and are ignored in exactly these forms; one of them has the name of a setting.
 */
const SERVICE_LINKS: readonly { name: RegExp; value: RegExp }[] = [
  { name: /^GATE_SIDECAR_SERVICE_HOST$/, value: /./ },
  { name: /^GATE_SIDECAR_SERVICE_PORT(?:_[A-Z0-9_]+)?$/, value: /^\d+$/ },
  { name: /^GATE_SIDECAR_PORT$/, value: /^(?:tcp|udp|sctp):\/\// },
  { name: /^GATE_SIDECAR_PORT_\d+_(?:TCP|UDP|SCTP)$/, value: /^(?:tcp|udp|sctp):\/\// },
  { name: /^GATE_SIDECAR_PORT_\d+_(?:TCP|UDP|SCTP)_(?:PROTO|PORT|ADDR)$/, value: /./ },
]

export function isServiceLink(name: string, text = ''): boolean {
  return SERVICE_LINKS.some((link) => link.name.test(name) && link.value.test(text))
}
