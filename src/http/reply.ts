import type { ServerResponse } from 'node:http'

/** Form of every answer: `data` on success, an error code and its sentence on failure. */
export type Envelope =
  | { success: true; data: unknown; page?: { limit: number; offset: number; total: number }; requestId: string }
  | { success: false; error: string; message: string; details?: readonly object[]; requestId: string }

type Headers = Readonly<Record<string, string>>

const JSON_TYPE = 'application/json; charset=utf-8'

/** Writes an envelope, unless the client has gone. */
export function writeEnvelope(
  response: ServerResponse,
  status: number,
  envelope: Envelope,
  headers: Headers = {},
): void {
  writeJson(response, status, envelope, envelope.requestId, headers)
}

/** Writes JSON without an envelope. */
export function writeJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  requestId: string,
  headers: Headers = {},
): void {
  writeText(response, status, { type: JSON_TYPE, text: JSON.stringify(value) }, requestId, headers)
}

/** Writes a text with its media type. A known length lets it leave in one piece. */
export function writeText(
  response: ServerResponse,
  status: number,
  { type, text }: { type: string; text: string },
  requestId: string,
  headers: Headers = {},
): void {
  if (response.headersSent || response.destroyed) return
  const all: Record<string, string | number> = {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'x-request-id': requestId,
  }
  for (const [name, value] of Object.entries(headers)) all[name] = value
  // Node sends a text in one write with the headers; bytes would need a second.
  response.writeHead(status, all)
  response.end(text)
}
