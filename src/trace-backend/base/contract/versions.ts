import { Problem } from '../../../platform/http/problems.ts';
import { Type } from '../../../platform/type.ts';

/** The header with the version that a client has read. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'ETag of the version to change; returns 412 if the record has changed since',
      examples: ['"3"'],
    }),
  ),
});

/** The ETag of a version of a record, or of several records, such as 3.7. */
export function versionTag(version: number | string): string {
  return `"${version}"`;
}

/**
 * Checks a change against the version that its sender has read, if they sent If-Match (RFC 9110 §13.1.1, strong
 * comparison).
 *
 * @throws Problem precondition_failed
 */
export function checkVersion(ifMatch: string | undefined, version: number | string): void {
  if (ifMatch === undefined) return;
  const tags = ifMatch.split(',').map(tag => tag.trim());
  if (tags.includes('*') || tags.includes(versionTag(version))) return;
  throw new Problem('record.changed');
}
