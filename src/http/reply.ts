import type { ServerResponse } from 'node:http'

/** Form of every answer: `data` on success, an error code and its sentence on failure. */
export type Envelope =
  | { success: true; data: unknown; page?: { limit: number; offset: number; total: number }; requestId: string }
  | { success: false; error: string; message: string; details?: readonly object[]; requestId: string }

/** Writes an envelope, unless the client has gone. */
export function writeEnvelope(
  response: ServerResponse,
  status: number,
  envelope: Envelope,
  headers: Readonly<Record<string, string>> = {},
): void {
  writeJson(response, status, envelope, { 'x-request-id': envelope.requestId, ...headers })
}

/** Writes JSON without an envelope. A known length lets it leave in one piece. */
export function writeJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>>,
): void {
  writeText(response, status, JSON.stringify(value), { 'Content-Type': 'application/json; charset=utf-8', ...headers })
}

/** @param headers with its Content-Type */
export function writeText(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>>,
): void {
  if (response.headersSent || response.destroyed) return
  // Node sends a text in one write with the headers; bytes would need a second.
  response.writeHead(status, {
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
  response.end(body)
}
