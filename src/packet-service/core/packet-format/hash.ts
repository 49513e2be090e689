import { hash } from 'node:crypto';

/**
 * The integrity hash of a packet: lowercase hex of SHA-256 over the UTF-8 bytes of the Header's canonical JSON
 * followed by the Body's, with nothing between them. The Footer carries the hash and is not part of it.
 *
 * @param header canonical JSON (RFC 8785) of the Header
 * @param body canonical JSON of the Body
 */
export function packetHash(header: string, body: string): string {
  return hash('sha256', header + body, 'hex');
}
