const UNKNOWN = 'application/octet-stream';

/**
 * The media type that a file's first bytes tell; what the client says of it is never believed. Texts have no such
 * bytes and are application/octet-stream, like anything else that is not known.
 */
export async function sniffContentType(head: Buffer): Promise<string> {
  // Loaded with the first file: most starts take in none for a while.
  const { fileTypeFromBuffer } = await import('file-type');
  try {
    return (await fileTypeFromBuffer(head))?.mime ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
