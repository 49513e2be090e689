/** The token of an invitation: the last part of the path of its link, or what was typed if it is no link. */
export function invitationToken(typed: string): string {
  const [path = ''] = typed.trim().split(/[?#]/, 1);
  return (
    path
      .split('/')
      .filter(part => part !== '' && part !== 'accept')
      .at(-1) ?? ''
  );
}
