/** Whether a text is a uuid in the form that PostgreSQL writes; upper case is accepted. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
