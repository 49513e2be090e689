/** An uploaded file, as records refer to it. */
export interface StoredFile {
  storageKey: string;
  name?: string | undefined;
}
