/**
 * The parameters of a path by a pattern such as /packets/:id; undefined if it does not match.
 */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [names, parts] = [pattern, path].map(text => text.replace(/\/+$/, '').split('/')) as [
    string[],
    string[],
  ];
  if (names.length !== parts.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index] as string;
    if (name.startsWith(':') && part !== '') parameters[name.slice(1)] = decoded(part);
    else if (name !== part) return undefined;
  }
  return parameters;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
