/** Whether an If-None-Match header names this tag (RFC 9110 §13.1.2, weak comparison). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some(candidate => {
    const trimmed = candidate.trim();
    return trimmed === '*' || trimmed.replace(/^W\//, '') === tag;
  });
}
