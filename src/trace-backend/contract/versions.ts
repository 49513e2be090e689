import { Type } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';

/** The header by which a client says which version it has read. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'the ETag of the version that this is a change of; another one is there: 412',
      examples: ['"3"'],
    }),
  ),
});

/** The ETag of a version of a record. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/**
 * Holds a change to the version that its sender has read, where they say which (RFC 9110 §13.1.1, strong comparison).
 *
 * @throws Problem precondition_failed
 */
export function checkVersion(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined) return;
  const tags = ifMatch.split(',').map(tag => tag.trim());
  if (tags.includes('*') || tags.includes(versionTag(version))) return;
  throw new Problem('precondition_failed', 'it was changed since you read it; read it again');
}
