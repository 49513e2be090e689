/** The token of an invitation: in the query or at the end of the path of its link, or what was typed if it is no link. */
export function invitationToken(typed: string): string {
  const fromQuery = /[?&]invitation=([\w-]+)/.exec(typed)?.[1];
  if (fromQuery !== undefined) return fromQuery;
  const [path = ''] = typed.trim().split(/[?#]/, 1);
  return (
    path
      .split('/')
      .filter(part => part !== '' && part !== 'accept')
      .at(-1) ?? ''
  );
}
